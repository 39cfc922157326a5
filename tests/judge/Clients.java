import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Kafka's clients as the judge wants them, and how a command's words are read. */
final class Clients {
    /** For one answer of an admin client, and for a reader to be given the next record. */
    static final long LIMIT_SECONDS = 120;

    static AdminClient admin(String bootstrap) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        return AdminClient.create(properties);
    }

    static KafkaConsumer<byte[], byte[]> consumer(String bootstrap, Map<String, String> options) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        properties.put("enable.auto.commit", "false");
        properties.put("auto.offset.reset", "earliest");
        properties.put("max.poll.records", "20000");
        properties.putAll(options);
        return new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** `key=value` words from `from` on. */
    static Map<String, String> options(String[] words, int from) {
        return options(words, from, words.length);
    }

    static Map<String, String> options(String[] words, int from, int to) {
        Map<String, String> options = new HashMap<>();
        for (int i = from; i < to; i++) {
            int at = words[i].indexOf('=');
            if (at < 0) throw new IllegalArgumentException("not key=value: " + words[i]);
            options.put(words[i].substring(0, at), words[i].substring(at + 1));
        }
        return options;
    }

    static long number(Map<String, String> options, String name, long otherwise) {
        String text = options.remove(name);
        return text == null ? otherwise : Long.parseLong(text);
    }

    static String hex(byte[] bytes) {
        if (bytes == null) return "null";
        StringBuilder hex = new StringBuilder(2 * bytes.length);
        for (byte b : bytes) hex.append(Character.forDigit((b >> 4) & 15, 16)).append(Character.forDigit(b & 15, 16));
        return hex.toString();
    }

    /** A producer that keeps the order and forgets no error. */
    static final class Writer implements AutoCloseable {
        final KafkaProducer<byte[], byte[]> producer;
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

    /** Fails a reader that gets nothing for long, naming what it reads. */
    static final class Progress {
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
}
