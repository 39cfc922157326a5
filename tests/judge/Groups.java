import java.io.PrintStream;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Consumer groups: live members, and offsets that were committed. */
final class Groups {
    /** A live member of a group: says "assigned" once it has partitions, reads on until SIGTERM, and then leaves. */
    static void live(String[] words, PrintStream out) throws Exception {
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
        Map<String, String> options = Clients.options(words, 4);
        options.put("group.id", words[3]);
        try (KafkaConsumer<byte[], byte[]> consumer = Clients.consumer(words[1], options)) {
            consumer.subscribe(Collections.singleton(words[2]), new ConsumerRebalanceListener() {
                @Override
                public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                    out.println("assigned " + partitions.size());
                }

                @Override
                public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                    out.println("revoked " + partitions.size());
                }
            });
            while (!stopped.get()) consumer.poll(Duration.ofMillis(200));
        }
    }

    /** Commits the same offset for every partition of a topic, as a group without members. */
    static void commit(String[] words, PrintStream out) throws Exception {
        Map<String, String> options = new HashMap<>();
        options.put("group.id", words[3]);
        try (KafkaConsumer<byte[], byte[]> consumer = Clients.consumer(words[1], options)) {
            Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
            consumer.partitionsFor(words[2]).forEach(p -> offsets.put(new TopicPartition(words[2], p.partition()),
                new OffsetAndMetadata(Long.parseLong(words[4]))));
            consumer.commitSync(offsets);
        }
    }

    /** Prints `partition offset` for each partition with a committed offset. */
    static void committed(String[] words, PrintStream out) throws Exception {
        Map<String, String> options = new HashMap<>();
        options.put("group.id", words[3]);
        Map<Integer, Long> found = new TreeMap<>();
        try (KafkaConsumer<byte[], byte[]> consumer = Clients.consumer(words[1], options)) {
            consumer.partitionsFor(words[2]).forEach(p -> {
                // One by one: the form for several came with 2.4, this one went with 4.0.
                OffsetAndMetadata offset =
                    consumer.committed(new TopicPartition(words[2], p.partition()));
                if (offset != null) found.put(p.partition(), offset.offset());
            });
        }
        found.forEach((partition, offset) -> out.println(partition + " " + offset));
    }
}
