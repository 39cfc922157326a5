import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * The independent client of the tests: fills topics and reads them back with Kafka's own Java client.
 *
 * <pre>
 * create          BOOTSTRAP TOPIC PARTITIONS [replication.factor=N] [topic property=value]...
 * add-partitions  BOOTSTRAP TOPIC PARTITIONS
 * delete-topic    BOOTSTRAP TOPIC
 * describe        BOOTSTRAP TOPIC
 * zk-create, zk-add-partitions, zk-delete-topic, zk-describe: the same with ZOOKEEPER in place of BOOTSTRAP
 * produce-counter BOOTSTRAP TOPIC RECORDS [timestamp=FIRST]
 * produce         BOOTSTRAP TOPIC [records=N] [seed=S] [headers=true|false] [value=BYTES_MAX] [producer.property=value]...
 * write           BOOTSTRAP TOPIC PARTITION [end=commit|abort] [producer.property=value]... -- RECORD...
 * transactions    BOOTSTRAP TOPIC [rounds=N] [seed=S] [end=commit|abort|open] [producer.property=value]...
 * perf-fill       BOOTSTRAP TOPIC [records=N] [size=BYTES] [producer.property=value]...
 * delete-records  BOOTSTRAP TOPIC PARTITION OFFSET
 * dump            BOOTSTRAP TOPIC [consumer.property=value]...
 * list            BOOTSTRAP TOPIC
 * diff            BOOTSTRAP TOPIC BOOTSTRAP TOPIC PARTITION HEADERS LINES
 * live            BOOTSTRAP TOPIC GROUP [consumer.property=value]...
 * commit          BOOTSTRAP TOPIC GROUP OFFSET
 * committed       BOOTSTRAP TOPIC GROUP
 * serve           (runs commands that come over a socket: no JVM to start for each)
 * </pre>
 *
 * Options without a dot are the command's own, those with a dot go to Kafka's client as they are.
 */
public final class Judge {
    private static final Map<String, Command> COMMANDS = new TreeMap<>();

    static {
        COMMANDS.put("create", Topics::create);
        COMMANDS.put("add-partitions", Topics::addPartitions);
        COMMANDS.put("delete-topic", Topics::delete);
        COMMANDS.put("describe", Topics::describe);
        COMMANDS.put("delete-records", Topics::deleteRecords);
        COMMANDS.put("zk-create", ZooKeeperTopics::create);
        COMMANDS.put("zk-add-partitions", ZooKeeperTopics::addPartitions);
        COMMANDS.put("zk-delete-topic", ZooKeeperTopics::delete);
        COMMANDS.put("zk-describe", ZooKeeperTopics::describe);
        COMMANDS.put("produce-counter", Workloads::produceCounter);
        COMMANDS.put("produce", Workloads::produce);
        COMMANDS.put("transactions", Workloads::transactions);
        COMMANDS.put("perf-fill", Workloads::perfFill);
        COMMANDS.put("write", Rows::write);
        COMMANDS.put("list", Rows::list);
        COMMANDS.put("dump", Reading::dump);
        COMMANDS.put("diff", Reading::diff);
        COMMANDS.put("live", Groups::live);
        COMMANDS.put("commit", Groups::commit);
        COMMANDS.put("committed", Groups::committed);
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("serve")) {
            serve();
        } else {
            run(args, System.out);
            System.out.flush();
        }
    }

    private static void run(String[] words, PrintStream out) throws Exception {
        Command command = COMMANDS.get(words[0]);
        if (command == null) throw new IllegalArgumentException("unknown command " + words[0]);
        command.run(words, out);
    }

    /**
     * One command per connection, several at once. In: the number of words, then each behind its length in bytes. Out: 0 and
     * what the command said, or 1 and why it failed, up to the end of the stream.
     */
    private static void serve() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            System.out.println("serving " + server.getLocalPort() + " ready");
            while (true) {
                Socket socket = server.accept();
                Thread thread = new Thread(() -> answer(socket));
                thread.setDaemon(true);
                thread.start();
            }
        }
    }

    private static void answer(Socket socket) {
        try (Socket closed = socket) {
            DataInputStream in = new DataInputStream(new java.io.BufferedInputStream(socket.getInputStream()));
            String[] words = new String[in.readInt()];
            for (int i = 0; i < words.length; i++) {
                byte[] word = new byte[in.readInt()];
                in.readFully(word);
                words[i] = new String(word, StandardCharsets.UTF_8);
            }
            ByteArrayOutputStream said = new ByteArrayOutputStream();
            PrintStream out = new PrintStream(said, false, "UTF-8");
            int status = 0;
            try {
                run(words, out);
            } catch (Throwable failure) {
                status = 1;
                failure.printStackTrace(out);
            }
            out.flush();
            DataOutputStream answer = new DataOutputStream(socket.getOutputStream());
            answer.writeInt(status);
            said.writeTo(answer);
            answer.flush();
        } catch (java.io.IOException e) {
            // The test has gone away: nobody waits for the answer.
            e.printStackTrace();
        }
    }
}
