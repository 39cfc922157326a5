import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The independent client of the tests: fills topics and reads them back with Kafka's own Java client.
 *
 * <pre>
 * create          BOOTSTRAP TOPIC PARTITIONS [replication.factor=N] [topic property=value]...
 * produce-counter BOOTSTRAP TOPIC RECORDS [timestamp=FIRST]
 * produce         BOOTSTRAP TOPIC [records=N] [seed=S] [headers=true|false] [value=BYTES_MAX] [producer.property=value]...
 * transactions    BOOTSTRAP TOPIC [rounds=N] [seed=S] [end=commit|abort|open] [producer.property=value]...
 * perf-fill       BOOTSTRAP TOPIC [records=N] [size=BYTES] [producer.property=value]...
 * delete-records  BOOTSTRAP TOPIC PARTITION OFFSET
 * dump            BOOTSTRAP TOPIC [consumer.property=value]...
 * diff            BOOTSTRAP TOPIC BOOTSTRAP TOPIC PARTITION HEADERS LINES
 * live            BOOTSTRAP TOPIC GROUP [consumer.property=value]...
 * commit          BOOTSTRAP TOPIC GROUP OFFSET
 * committed       BOOTSTRAP TOPIC GROUP
 * </pre>
 *
 * Options without a dot are the command's own, those with a dot go to Kafka's client as they are.
 */
public final class Judge {
    private static final long LIMIT_SECONDS = 120;

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "create": create(args); break;
            case "produce-counter": produceCounter(args); break;
            case "produce": produce(args); break;
            case "transactions": transactions(args); break;
            case "perf-fill": perfFill(args); break;
            case "delete-records": deleteRecords(args); break;
            case "dump": dump(args); break;
            case "diff": diff(args); break;
            case "live": live(args); break;
            case "commit": commit(args); break;
            case "committed": committed(args); break;
            default: throw new IllegalArgumentException("unknown command " + args[0]);
        }
    }

    // ---- writing

    private static void create(String[] args) throws Exception {
        Map<String, String> config = options(args, 4);
        String replication = config.remove("replication.factor");
        short factor = replication == null ? 1 : Short.parseShort(replication);
        Properties properties = new Properties();
        properties.put("bootstrap.servers", args[1]);
        try (AdminClient admin = AdminClient.create(properties)) {
            NewTopic topic = new NewTopic(args[2], Integer.parseInt(args[3]), factor).configs(config);
            admin.createTopics(Collections.singleton(topic)).all().get(LIMIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** Acceptance test 1: record i has no key, i as eight bytes, and goes to partition i mod P; stamped now or FIRST + i. */
    private static void produceCounter(String[] args) throws Exception {
        long records = Long.parseLong(args[3]);
        Map<String, String> options = options(args, 4);
        long first = number(options, "timestamp", -1);
        try (Writer writer = new Writer(args[1], options)) {
            int partitions = writer.partitions(args[2]);
            for (long i = 0; i < records; i++) {
                byte[] value = ByteBuffer.allocate(8).putLong(i).array();
                Long timestamp = first < 0 ? null : Long.valueOf(first + i);
                writer.send(new ProducerRecord<>(args[2], (int) (i % partitions), timestamp, null, value));
            }
        }
    }

    /** Deletes everything before OFFSET, as retention would. */
    private static void deleteRecords(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", args[1]);
        TopicPartition partition = new TopicPartition(args[2], Integer.parseInt(args[3]));
        try (AdminClient admin = AdminClient.create(properties)) {
            RecordsToDelete before = RecordsToDelete.beforeOffset(Long.parseLong(args[4]));
            admin.deleteRecords(Collections.singletonMap(partition, before)).all().get(LIMIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    /**
     * Transactions of three producers and writes without one, interleaved; some end in a commit, some in an abort, some are
     * empty. The last one spans all partitions and ends as told: its marker is the last thing in every log, or it is left open.
     */
    private static void transactions(String[] args) throws Exception {
        Map<String, String> options = options(args, 3);
        long rounds = number(options, "rounds", 150);
        Random random = new Random(number(options, "seed", 1));
        String end = options.getOrDefault("end", "commit");
        options.remove("end");
        List<Writer> writers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Map<String, String> own = new HashMap<>(options);
            own.put("transactional.id", args[2] + "-" + i);
            own.put("transaction.timeout.ms", "600000");
            Writer writer = new Writer(args[1], own);
            writer.producer.initTransactions();
            writers.add(writer);
        }
        Writer plain = new Writer(args[1], options);
        int partitions = plain.partitions(args[2]);
        boolean[] open = new boolean[writers.size()];
        for (long round = 0; round < rounds; round++) {
            int who = random.nextInt(open.length + 1);
            Writer writer = who < open.length ? writers.get(who) : plain;
            if (who < open.length && !open[who]) {
                writer.producer.beginTransaction();
                open[who] = true;
            }
            for (int i = random.nextInt(20); i > 0; i--) {
                byte[] key = ("round " + round + " of " + who).getBytes();
                writer.send(new ProducerRecord<>(args[2], random.nextInt(partitions), key, bytes(random, 80, 5, 5)));
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
        Writer last = writers.get(0);
        last.producer.beginTransaction();
        for (int i = 0; i < 5 * partitions; i++) {
            last.send(new ProducerRecord<>(args[2], i % partitions, null, ("last " + i).getBytes()));
        }
        last.producer.flush();
        plain.close();
        // What closes its producer aborts its transaction.
        if (end.equals("open")) Runtime.getRuntime().halt(0);
        finish(last, end);
        for (Writer writer : writers) writer.close();
    }

    private static void finish(Writer writer, String end) {
        if (end.equals("commit")) writer.producer.commitTransaction();
        else writer.producer.abortTransaction();
    }

    private static void perfFill(String[] args) throws Exception {
        Map<String, String> options = options(args, 3);
        long records = number(options, "records", 5_000_000);
        int size = (int) number(options, "size", 100);
        Random random = new Random(number(options, "seed", 1));
        // Noise from one block: as fast as a copy, and neither all zeros nor a gift to a codec.
        byte[] noise = new byte[1 << 16];
        random.nextBytes(noise);
        try (Writer writer = new Writer(args[1], options)) {
            int partitions = writer.partitions(args[2]);
            for (long i = 0; i < records; i++) {
                int from = random.nextInt(noise.length - size);
                byte[] value = Arrays.copyOfRange(noise, from, from + size);
                writer.send(new ProducerRecord<>(args[2], (int) (i % partitions), null, value));
            }
        }
    }

    /** Every shape that a record may have, from a seed. */
    private static void produce(String[] args) throws Exception {
        Map<String, String> options = options(args, 3);
        long records = number(options, "records", 1000);
        Random random = new Random(number(options, "seed", 1));
        boolean headers = Boolean.parseBoolean(options.getOrDefault("headers", "true"));
        options.remove("headers");
        int valueMax = (int) number(options, "value", 200);
        try (Writer writer = new Writer(args[1], options)) {
            int partitions = writer.partitions(args[2]);
            // Not "now": what arrives must be this time, not that of its arrival. Not in order either.
            long base = 1_600_000_000_000L;
            for (long i = 0; i < records; i++) {
                long timestamp = base + 10 * i - random.nextInt(5000);
                byte[] key = bytes(random, 20, 20, 5);
                byte[] value = bytes(random, valueMax, 5, 5);
                List<Header> list = headers ? headers(random) : Collections.<Header>emptyList();
                int partition = random.nextInt(partitions);
                writer.send(new ProducerRecord<>(args[2], partition, timestamp, key, value, list));
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

    /** A producer that keeps the order and forgets no error. */
    private static final class Writer implements AutoCloseable {
        private final KafkaProducer<byte[], byte[]> producer;
        private final AtomicReference<Exception> failed = new AtomicReference<>();

        Writer(String bootstrap, Map<String, String> options) {
            Properties properties = new Properties();
            properties.put("bootstrap.servers", bootstrap);
            properties.put("acks", "all");
            properties.put("retries", "100");
            properties.put("max.in.flight.requests.per.connection", "1");
            properties.put("linger.ms", "5");
            properties.put("buffer.memory", "67108864");
            for (Map.Entry<String, String> option : options.entrySet()) {
                if (option.getKey().contains(".")) properties.put(option.getKey(), option.getValue());
            }
            producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
        }

        int partitions(String topic) {
            return producer.partitionsFor(topic).size();
        }

        void send(ProducerRecord<byte[], byte[]> record) throws Exception {
            producer.send(record, (metadata, exception) -> {
                if (exception != null) failed.compareAndSet(null, exception);
            });
            if (failed.get() != null) throw failed.get();
        }

        @Override
        public void close() throws Exception {
            producer.close();
            if (failed.get() != null) throw failed.get();
        }
    }

    // ---- reading

    /** Prints `partition count first_offset last_offset sha256 headers_sha256 content_sum` for each partition. */
    private static void dump(String[] args) throws Exception {
        Map<Integer, Digest> digests = new TreeMap<>();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(args[1], options(args, 3))) {
            List<TopicPartition> all = new ArrayList<>();
            consumer.partitionsFor(args[2]).forEach(p -> all.add(new TopicPartition(args[2], p.partition())));
            for (TopicPartition partition : all) digests.put(partition.partition(), new Digest());
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            consumer.assign(all);
            consumer.seekToBeginning(all);
            Progress progress = new Progress(args[1] + " " + args[2]);
            while (!reached(consumer, ends)) {
                progress.check();
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                    long end = ends.get(new TopicPartition(record.topic(), record.partition()));
                    if (record.offset() < end) digests.get(record.partition()).add(record);
                    progress.made();
                }
            }
        }
        StringBuilder out = new StringBuilder();
        digests.forEach((partition, digest) -> out.append(partition).append(' ').append(digest.finish()).append('\n'));
        System.out.print(out);
    }

    /** Whether every partition has been read up to its end, as far as there is anything that a reader is given. */
    private static boolean reached(KafkaConsumer<byte[], byte[]> consumer, Map<TopicPartition, Long> ends) {
        for (Map.Entry<TopicPartition, Long> end : ends.entrySet()) {
            if (consumer.position(end.getKey()) < end.getValue()) return false;
        }
        return true;
    }

    /** A running hash over (key, value, timestamp), one over the headers, and a sum that does without the order. */
    private static final class Digest {
        private final Hash records = new Hash();
        private final Hash headers = new Hash();
        private long sum;
        private long count;
        private long first = -1;
        private long last = -1;

        void add(ConsumerRecord<byte[], byte[]> record) {
            if (count == 0) first = record.offset();
            last = record.offset();
            count++;
            sum += mixed(record);
            records.bytes(record.key());
            records.bytes(record.value());
            records.number(record.timestamp(), 8);
            Header[] list = record.headers().toArray();
            headers.number(list.length, 4);
            for (Header header : list) {
                headers.bytes(header.key().getBytes(java.nio.charset.StandardCharsets.UTF_8));
                headers.bytes(header.value());
            }
        }

        String finish() {
            String hashes = records.finish() + " " + headers.finish() + " " + Long.toHexString(sum);
            return count + " " + first + " " + last + " " + hashes;
        }

        /** FNV-1a over what `records` takes in, then mixed so that sums of many of them stay far apart. */
        private static long mixed(ConsumerRecord<byte[], byte[]> record) {
            long hash = fnv(fnv(0xcbf29ce484222325L, record.key()), record.value());
            for (int shift = 56; shift >= 0; shift -= 8) hash = fnv(hash, (int) (record.timestamp() >> shift));
            hash = (hash ^ (hash >>> 33)) * 0xff51afd7ed558ccdL;
            return hash ^ (hash >>> 33);
        }

        private static long fnv(long hash, byte[] bytes) {
            int length = bytes == null ? -1 : bytes.length;
            for (int shift = 24; shift >= 0; shift -= 8) hash = fnv(hash, length >> shift);
            for (int i = 0; i < length; i++) hash = fnv(hash, bytes[i]);
            return hash;
        }

        private static long fnv(long hash, int b) {
            return (hash ^ (b & 255)) * 0x100000001b3L;
        }
    }

    /** SHA-256, fed through a buffer: numbers big-endian, byte strings behind their length (null: -1) as four bytes. */
    private static final class Hash {
        private final MessageDigest digest;
        private final ByteBuffer buffer = ByteBuffer.allocate(1 << 16);

        Hash() {
            try {
                digest = MessageDigest.getInstance("SHA-256");
            } catch (java.security.NoSuchAlgorithmException e) {
                throw new IllegalStateException(e);
            }
        }

        void number(long value, int bytes) {
            if (buffer.remaining() < bytes) flush();
            for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) buffer.put((byte) (value >> shift));
        }

        void bytes(byte[] bytes) {
            number(bytes == null ? -1 : bytes.length, 4);
            if (bytes == null) return;
            if (buffer.remaining() < bytes.length) flush();
            if (buffer.remaining() < bytes.length) digest.update(bytes);
            else buffer.put(bytes);
        }

        private void flush() {
            digest.update(buffer.array(), 0, buffer.position());
            buffer.clear();
        }

        String finish() {
            flush();
            return hex(digest.digest());
        }
    }

    /** Prints the first records in which two partitions differ, side by side. */
    private static void diff(String[] args) throws Exception {
        int partition = Integer.parseInt(args[5]);
        boolean headers = Boolean.parseBoolean(args[6]);
        long lines = Long.parseLong(args[7]);
        try (Walk left = new Walk(args[1], args[2], partition); Walk right = new Walk(args[3], args[4], partition)) {
            for (long n = 0; lines > 0; n++) {
                ConsumerRecord<byte[], byte[]> a = left.next();
                ConsumerRecord<byte[], byte[]> b = right.next();
                if (a == null && b == null) return;
                if (a != null && b != null && line(a, headers).equals(line(b, headers))) continue;
                System.out.println("record " + n + " source " + shown(a, headers));
                System.out.println("record " + n + " target " + shown(b, headers));
                lines--;
            }
        }
    }

    private static String shown(ConsumerRecord<byte[], byte[]> record, boolean headers) {
        return record == null ? "(none)" : "offset " + record.offset() + ": " + line(record, headers);
    }

    private static String line(ConsumerRecord<byte[], byte[]> record, boolean headers) {
        StringBuilder line = new StringBuilder();
        line.append("timestamp ").append(record.timestamp());
        line.append(" key ").append(hex(record.key())).append(" value ").append(hex(record.value()));
        if (headers) {
            for (Header header : record.headers()) {
                line.append(" header ").append(header.key()).append('=').append(hex(header.value()));
            }
        }
        return line.toString();
    }

    /** One partition, record by record, up to its end as of now. */
    private static final class Walk implements AutoCloseable {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final Map<TopicPartition, Long> ends;
        private final Progress progress;
        private Iterator<ConsumerRecord<byte[], byte[]>> polled = Collections.emptyIterator();

        Walk(String bootstrap, String topic, int number) {
            List<TopicPartition> partition = Collections.singletonList(new TopicPartition(topic, number));
            consumer = consumer(bootstrap, new HashMap<>());
            consumer.assign(partition);
            consumer.seekToBeginning(partition);
            ends = consumer.endOffsets(partition);
            progress = new Progress(bootstrap + " " + topic);
        }

        ConsumerRecord<byte[], byte[]> next() {
            while (!polled.hasNext()) {
                if (reached(consumer, ends)) return null;
                progress.check();
                polled = consumer.poll(Duration.ofMillis(200)).iterator();
            }
            progress.made();
            return polled.next();
        }

        @Override
        public void close() {
            consumer.close();
        }
    }

    /** Fails a reader that gets nothing for long, naming what it reads. */
    private static final class Progress {
        private final String what;
        private long last = System.nanoTime();

        Progress(String what) {
            this.what = what;
        }

        void made() {
            last = System.nanoTime();
        }

        void check() {
            if (System.nanoTime() - last > TimeUnit.SECONDS.toNanos(LIMIT_SECONDS)) {
                throw new IllegalStateException("no record for " + LIMIT_SECONDS + " s: " + what);
            }
        }
    }

    // ---- groups

    /** A live member of a group: says "assigned" once it has partitions, reads on until SIGTERM, and then leaves. */
    private static void live(String[] args) throws Exception {
        Thread reading = Thread.currentThread();
        AtomicBoolean stopped = new AtomicBoolean();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            stopped.set(true);
            try {
                reading.join();
            } catch (InterruptedException e) {
                // The process ends either way.
            }
        }));
        Map<String, String> options = options(args, 4);
        options.put("group.id", args[3]);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(args[1], options)) {
            consumer.subscribe(Collections.singleton(args[2]), new ConsumerRebalanceListener() {
                @Override
                public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                    System.out.println("assigned " + partitions.size());
                }

                @Override
                public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                    System.out.println("revoked " + partitions.size());
                }
            });
            while (!stopped.get()) consumer.poll(Duration.ofMillis(200));
        }
    }

    /** Commits the same offset for every partition of a topic, as a group without members. */
    private static void commit(String[] args) throws Exception {
        Map<String, String> options = new HashMap<>();
        options.put("group.id", args[3]);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(args[1], options)) {
            Map<TopicPartition, org.apache.kafka.clients.consumer.OffsetAndMetadata> offsets = new HashMap<>();
            consumer.partitionsFor(args[2]).forEach(p -> offsets.put(new TopicPartition(args[2], p.partition()),
                new org.apache.kafka.clients.consumer.OffsetAndMetadata(Long.parseLong(args[4]))));
            consumer.commitSync(offsets);
        }
    }

    /** Prints `partition offset` for each partition with a committed offset. */
    private static void committed(String[] args) throws Exception {
        Map<String, String> options = new HashMap<>();
        options.put("group.id", args[3]);
        Map<Integer, Long> found = new TreeMap<>();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(args[1], options)) {
            consumer.partitionsFor(args[2]).forEach(p -> {
                // One by one: the form for several came with 2.4, this one went with 4.0.
                org.apache.kafka.clients.consumer.OffsetAndMetadata offset =
                    consumer.committed(new TopicPartition(args[2], p.partition()));
                if (offset != null) found.put(p.partition(), offset.offset());
            });
        }
        StringBuilder out = new StringBuilder();
        found.forEach((partition, offset) -> out.append(partition).append(' ').append(offset).append('\n'));
        System.out.print(out);
    }

    // ---- both

    private static KafkaConsumer<byte[], byte[]> consumer(String bootstrap, Map<String, String> options) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        properties.put("enable.auto.commit", "false");
        properties.put("auto.offset.reset", "earliest");
        properties.put("max.poll.records", "20000");
        properties.putAll(options);
        return new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static Map<String, String> options(String[] args, int from) {
        Map<String, String> options = new HashMap<>();
        for (int i = from; i < args.length; i++) {
            int at = args[i].indexOf('=');
            if (at < 0) throw new IllegalArgumentException("not key=value: " + args[i]);
            options.put(args[i].substring(0, at), args[i].substring(at + 1));
        }
        return options;
    }

    private static long number(Map<String, String> options, String name, long otherwise) {
        String text = options.remove(name);
        return text == null ? otherwise : Long.parseLong(text);
    }

    private static String hex(byte[] bytes) {
        if (bytes == null) return "null";
        StringBuilder hex = new StringBuilder();
        for (byte b : bytes) hex.append(Character.forDigit((b >> 4) & 15, 16)).append(Character.forDigit(b & 15, 16));
        return hex.toString();
    }
}
