import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** Topics filled with many records: counted ones, ones of every shape from a seed, transactions, a load. */
final class Workloads {
    /** Acceptance test 1: record i has no key, i as eight bytes, and goes to partition i mod P; stamped now or FIRST + i. */
    static void produceCounter(String[] words, PrintStream out) throws Exception {
        long records = Long.parseLong(words[3]);
        Map<String, String> options = Clients.options(words, 4);
        long first = Clients.number(options, "timestamp", -1);
        try (Clients.Writer writer = new Clients.Writer(words[1], options)) {
            int partitions = writer.partitions(words[2]);
            for (long i = 0; i < records; i++) {
                byte[] value = ByteBuffer.allocate(8).putLong(i).array();
                Long timestamp = first < 0 ? null : Long.valueOf(first + i);
                writer.send(new ProducerRecord<>(words[2], (int) (i % partitions), timestamp, null, value));
            }
        }
    }

    /**
     * Transactions of three producers and writes without one, interleaved; some end in a commit, some in an abort, some are
     * empty. The last one spans all partitions and ends as told: its marker is the last thing in every log, or it is left open.
     */
    static void transactions(String[] words, PrintStream out) throws Exception {
        Map<String, String> options = Clients.options(words, 3);
        long rounds = Clients.number(options, "rounds", 150);
        Random random = new Random(Clients.number(options, "seed", 1));
        String end = options.getOrDefault("end", "commit");
        options.remove("end");
        List<Clients.Writer> writers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Map<String, String> own = new HashMap<>(options);
            own.put("transactional.id", words[2] + "-" + i);
            own.put("transaction.timeout.ms", "600000");
            Clients.Writer writer = new Clients.Writer(words[1], own);
            writer.producer.initTransactions();
            writers.add(writer);
        }
        Clients.Writer plain = new Clients.Writer(words[1], options);
        int partitions = plain.partitions(words[2]);
        boolean[] open = new boolean[writers.size()];
        for (long round = 0; round < rounds; round++) {
            int who = random.nextInt(open.length + 1);
            Clients.Writer writer = who < open.length ? writers.get(who) : plain;
            if (who < open.length && !open[who]) {
                writer.producer.beginTransaction();
                open[who] = true;
            }
            for (int i = random.nextInt(20); i > 0; i--) {
                byte[] key = ("round " + round + " of " + who).getBytes();
                writer.send(new ProducerRecord<>(words[2], random.nextInt(partitions), key, bytes(random, 80, 5, 5)));
            }
            writer.producer.flush();
            if (who < open.length && random.nextInt(3) == 0) {
                finish(writer, random.nextBoolean() ? "commit" : "abort");
                open[who] = false;
            }
        }
        for (int who = 0; who < open.length; who++) {
            if (open[who]) finish(writers.get(who), who % 2 == 0 ? "commit" : "abort");
        }
        Clients.Writer last = writers.get(0);
        last.producer.beginTransaction();
        for (int i = 0; i < 5 * partitions; i++) {
            last.send(new ProducerRecord<>(words[2], i % partitions, null, ("last " + i).getBytes()));
        }
        last.producer.flush();
        plain.close();
        // What closes its producer aborts its transaction.
        if (end.equals("open")) Runtime.getRuntime().halt(0);
        finish(last, end);
        for (Clients.Writer writer : writers) writer.close();
    }

    static void finish(Clients.Writer writer, String end) {
        if (end.equals("commit")) writer.producer.commitTransaction();
        else writer.producer.abortTransaction();
    }

    static void perfFill(String[] words, PrintStream out) throws Exception {
        Map<String, String> options = Clients.options(words, 3);
        long records = Clients.number(options, "records", 5_000_000);
        int size = (int) Clients.number(options, "size", 100);
        Random random = new Random(Clients.number(options, "seed", 1));
        // Noise from one block: as fast as a copy, and neither all zeros nor a gift to a codec.
        byte[] noise = new byte[1 << 16];
        random.nextBytes(noise);
        try (Clients.Writer writer = new Clients.Writer(words[1], options)) {
            int partitions = writer.partitions(words[2]);
            for (long i = 0; i < records; i++) {
                int from = random.nextInt(noise.length - size);
                byte[] value = Arrays.copyOfRange(noise, from, from + size);
                writer.send(new ProducerRecord<>(words[2], (int) (i % partitions), null, value));
            }
        }
    }

    /** Every shape that a record may have, from a seed. */
    static void produce(String[] words, PrintStream out) throws Exception {
        Map<String, String> options = Clients.options(words, 3);
        long records = Clients.number(options, "records", 1000);
        Random random = new Random(Clients.number(options, "seed", 1));
        boolean headers = Boolean.parseBoolean(options.getOrDefault("headers", "true"));
        options.remove("headers");
        int valueMax = (int) Clients.number(options, "value", 200);
        try (Clients.Writer writer = new Clients.Writer(words[1], options)) {
            int partitions = writer.partitions(words[2]);
            // Not "now": what arrives must be this time, not that of its arrival. Not in order either.
            long base = 1_600_000_000_000L;
            for (long i = 0; i < records; i++) {
                long timestamp = base + 10 * i - random.nextInt(5000);
                byte[] key = bytes(random, 20, 20, 5);
                byte[] value = bytes(random, valueMax, 5, 5);
                List<Header> list = headers ? headers(random) : Collections.<Header>emptyList();
                int partition = random.nextInt(partitions);
                writer.send(new ProducerRecord<>(words[2], partition, timestamp, key, value, list));
            }
        }
    }

    /** Null and empty so many times in a hundred, else up to `max` bytes: half of them words, half of them noise. */
    private static byte[] bytes(Random random, int max, int nulls, int empties) {
        int dice = random.nextInt(100);
        if (dice < nulls) return null;
        if (dice < nulls + empties) return new byte[0];
        byte[] bytes = new byte[1 + random.nextInt(max)];
        random.nextBytes(bytes);
        if (random.nextBoolean()) {
            for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) ('a' + (bytes[i] & 3));
        }
        return bytes;
    }

    /** None, some, the same name twice, an empty name, no value. */
    private static List<Header> headers(Random random) {
        String[] names = {"trace", "trace", "", "content-type", "\u00fcber"};
        List<Header> list = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            list.add(new RecordHeader(names[random.nextInt(names.length)], bytes(random, 12, 15, 15)));
        }
        return list;
    }
}
