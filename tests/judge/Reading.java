import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;

/** Topics read back: as hashes, and side by side. */
final class Reading {
    /** Prints `partition count first_offset last_offset sha256 headers_sha256 content_sum` for each partition. */
    static void dump(String[] words, PrintStream out) throws Exception {
        Map<Integer, Digest> digests = new TreeMap<>();
        for (TopicPartition partition : each(words[1], words[2], Clients.options(words, 3),
            record -> digests.computeIfAbsent(record.partition(), number -> new Digest()).add(record))) {
            digests.computeIfAbsent(partition.partition(), number -> new Digest());
        }
        digests.forEach((partition, digest) -> out.println(partition + " " + digest.finish()));
    }

    /** Every record of a topic up to its ends as of now, those of a partition in their order; the topic's partitions. */
    static List<TopicPartition> each(
        String bootstrap, String topic, Map<String, String> options, Consumer<ConsumerRecord<byte[], byte[]>> take) {
        List<TopicPartition> all = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = Clients.consumer(bootstrap, options)) {
            consumer.partitionsFor(topic).forEach(p -> all.add(new TopicPartition(topic, p.partition())));
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            consumer.assign(all);
            consumer.seekToBeginning(all);
            Clients.Progress progress = new Clients.Progress(bootstrap + " " + topic);
            while (!reached(consumer, ends)) {
                progress.check();
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                    long end = ends.get(new TopicPartition(record.topic(), record.partition()));
                    if (record.offset() < end) take.accept(record);
                    progress.made();
                }
            }
        }
        return all;
    }

    /** Whether every partition has been read up to its end, as far as there is anything that a reader is given. */
    private static boolean reached(KafkaConsumer<byte[], byte[]> consumer, Map<TopicPartition, Long> ends) {
        for (Map.Entry<TopicPartition, Long> end : ends.entrySet()) {
            if (consumer.position(end.getKey()) < end.getValue()) return false;
        }
        return true;
    }

    /** Prints the first records in which two partitions differ, side by side. */
    static void diff(String[] words, PrintStream out) throws Exception {
        int partition = Integer.parseInt(words[5]);
        boolean headers = Boolean.parseBoolean(words[6]);
        long lines = Long.parseLong(words[7]);
        try (Walk left = new Walk(words[1], words[2], partition); Walk right = new Walk(words[3], words[4], partition)) {
            for (long n = 0; lines > 0; n++) {
                ConsumerRecord<byte[], byte[]> a = left.next();
                ConsumerRecord<byte[], byte[]> b = right.next();
                if (a == null && b == null) return;
                if (a != null && b != null && line(a, headers).equals(line(b, headers))) continue;
                out.println("record " + n + " source " + shown(a, headers));
                out.println("record " + n + " target " + shown(b, headers));
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
        line.append(" key ").append(Clients.hex(record.key())).append(" value ").append(Clients.hex(record.value()));
        if (headers) {
            for (Header header : record.headers()) {
                line.append(" header ").append(header.key()).append('=').append(Clients.hex(header.value()));
            }
        }
        return line.toString();
    }

    /** One partition, record by record, up to its end as of now. */
    private static final class Walk implements AutoCloseable {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final Map<TopicPartition, Long> ends;
        private final Clients.Progress progress;
        private Iterator<ConsumerRecord<byte[], byte[]>> polled = Collections.emptyIterator();

        Walk(String bootstrap, String topic, int number) {
            List<TopicPartition> partition = Collections.singletonList(new TopicPartition(topic, number));
            consumer = Clients.consumer(bootstrap, new HashMap<>());
            consumer.assign(partition);
            consumer.seekToBeginning(partition);
            ends = consumer.endOffsets(partition);
            progress = new Clients.Progress(bootstrap + " " + topic);
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
            return Clients.hex(digest.digest());
        }
    }
}
