import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * Topics of the releases that have no request for it yet, as their own tools do it: by writing to ZooKeeper, where the
 * controller looks.
 *
 * <pre>
 * /brokers/topics/T        {"version":1,"partitions":{"0":[replica, ...], ...}}
 * /config/topics/T         {"version":1,"config":{"key":"value", ...}}
 * /admin/delete_topics/T
 * </pre>
 */
final class ZooKeeperTopics {
    private static final ObjectMapper JSON = new ObjectMapper();

    private interface Body {
        void run(ZooKeeper zooKeeper) throws Exception;
    }

    static void create(String[] words, PrintStream out) throws Exception {
        Map<String, String> config = Clients.options(words, 4);
        String replication = config.remove("replication.factor");
        int factor = replication == null ? 1 : Integer.parseInt(replication);
        int partitions = Integer.parseInt(words[3]);
        with(words[1], zooKeeper -> {
            ObjectNode settings = JSON.createObjectNode().put("version", 1);
            ObjectNode own = settings.putObject("config");
            config.forEach(own::put);
            ObjectNode topic = JSON.createObjectNode().put("version", 1);
            assign(topic.putObject("partitions"), partitions, factor, brokers(zooKeeper));
            write(zooKeeper, "/config/topics/" + words[2], settings);
            write(zooKeeper, "/brokers/topics/" + words[2], topic);
        });
    }

    static void addPartitions(String[] words, PrintStream out) throws Exception {
        with(words[1], zooKeeper -> {
            String path = "/brokers/topics/" + words[2];
            ObjectNode topic = (ObjectNode) read(zooKeeper, path);
            ObjectNode assigned = (ObjectNode) topic.get("partitions");
            int factor = assigned.get("0").size();
            assign(assigned, Integer.parseInt(words[3]), factor, brokers(zooKeeper));
            zooKeeper.setData(path, JSON.writeValueAsBytes(topic), -1);
        });
    }

    static void delete(String[] words, PrintStream out) throws Exception {
        with(words[1], zooKeeper -> create(zooKeeper, "/admin/delete_topics/" + words[2], new byte[0]));
    }

    /** As `describe`; ZooKeeper knows only what a topic has of its own. */
    static void describe(String[] words, PrintStream out) throws Exception {
        with(words[1], zooKeeper -> {
            JsonNode assigned = read(zooKeeper, "/brokers/topics/" + words[2]).get("partitions");
            out.println("partitions " + assigned.size());
            out.println("replication " + assigned.get("0").size());
            String settings = "/config/topics/" + words[2];
            if (zooKeeper.exists(settings, false) == null) return;
            read(zooKeeper, settings).get("config").fields().forEachRemaining(
                setting -> out.println("own " + setting.getKey() + "=" + setting.getValue().asText()));
        });
    }

    /** Gives the partitions that have none yet their replicas. */
    private static void assign(ObjectNode assigned, int partitions, int factor, List<Integer> brokers) {
        for (int partition = 0; partition < partitions; partition++) {
            if (assigned.has(String.valueOf(partition))) continue;
            ArrayNode replicas = assigned.putArray(String.valueOf(partition));
            for (int i = 0; i < factor; i++) replicas.add(brokers.get((partition + i) % brokers.size()));
        }
    }

    private static List<Integer> brokers(ZooKeeper zooKeeper) throws Exception {
        List<Integer> brokers = new ArrayList<>();
        for (String id : zooKeeper.getChildren("/brokers/ids", false)) brokers.add(Integer.valueOf(id));
        brokers.sort(null);
        return brokers;
    }

    private static JsonNode read(ZooKeeper zooKeeper, String path) throws Exception {
        return JSON.readTree(zooKeeper.getData(path, false, null));
    }

    private static void write(ZooKeeper zooKeeper, String path, JsonNode node) throws Exception {
        create(zooKeeper, path, JSON.writeValueAsBytes(node));
    }

    private static void create(ZooKeeper zooKeeper, String path, byte[] bytes) throws Exception {
        zooKeeper.create(path, bytes, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    private static void with(String address, Body body) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper zooKeeper = new ZooKeeper(address, 30_000, event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) connected.countDown();
        });
        try {
            if (!connected.await(Clients.LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("no ZooKeeper at " + address);
            }
            body.run(zooKeeper);
        } finally {
            zooKeeper.close();
        }
    }
}
