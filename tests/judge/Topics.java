import java.io.PrintStream;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/** Topics, through the admin client: CreateTopics from 0.10.1 on, DescribeConfigs from 0.11, CreatePartitions from 1.0. */
final class Topics {
    static void create(String[] words, PrintStream out) throws Exception {
        Map<String, String> config = Clients.options(words, 4);
        String replication = config.remove("replication.factor");
        short factor = replication == null ? 1 : Short.parseShort(replication);
        try (AdminClient admin = Clients.admin(words[1])) {
            NewTopic topic = new NewTopic(words[2], Integer.parseInt(words[3]), factor).configs(config);
            admin.createTopics(Collections.singleton(topic)).all().get(Clients.LIMIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    static void addPartitions(String[] words, PrintStream out) throws Exception {
        NewPartitions partitions = NewPartitions.increaseTo(Integer.parseInt(words[3]));
        try (AdminClient admin = Clients.admin(words[1])) {
            admin.createPartitions(Collections.singletonMap(words[2], partitions)).all()
                .get(Clients.LIMIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    static void delete(String[] words, PrintStream out) throws Exception {
        try (AdminClient admin = Clients.admin(words[1])) {
            admin.deleteTopics(Collections.singleton(words[2])).all().get(Clients.LIMIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    /** Prints `partitions N`, `replication N`, and each setting as `own key=value` or `default key=value`. */
    static void describe(String[] words, PrintStream out) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, words[2]);
        try (AdminClient admin = Clients.admin(words[1])) {
            TopicDescription topic = admin.describeTopics(Collections.singleton(words[2])).all()
                .get(Clients.LIMIT_SECONDS, TimeUnit.SECONDS).get(words[2]);
            out.println("partitions " + topic.partitions().size());
            out.println("replication " + topic.partitions().get(0).replicas().size());
            Map<String, String> lines = new TreeMap<>();
            for (ConfigEntry entry : admin.describeConfigs(Collections.singleton(resource)).all()
                .get(Clients.LIMIT_SECONDS, TimeUnit.SECONDS).get(resource).entries()) {
                boolean own = entry.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG;
                lines.put(entry.name(), (own ? "own " : "default ") + entry.name() + "=" + entry.value());
            }
            lines.values().forEach(out::println);
        }
    }

    /** Deletes everything before OFFSET, as retention would. */
    static void deleteRecords(String[] words, PrintStream out) throws Exception {
        TopicPartition partition = new TopicPartition(words[2], Integer.parseInt(words[3]));
        try (AdminClient admin = Clients.admin(words[1])) {
            RecordsToDelete before = RecordsToDelete.beforeOffset(Long.parseLong(words[4]));
            admin.deleteRecords(Collections.singletonMap(partition, before)).all()
                .get(Clients.LIMIT_SECONDS, TimeUnit.SECONDS);
        }
    }
}
