import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/**
 * Records one by one, as text: `timestamp key value [name=value]...` with one space between, all bytes in hexadecimal, `-` for
 * what is null and nothing for what is empty. Reading and writing share the form, and null is not empty in either.
 */
final class Rows {
    /**
     * Writes records to one partition in their order. Without other words: as one batch, as far as it holds them. `end`: as a
     * transaction that is committed or aborted.
     */
    static void write(String[] words, PrintStream out) throws Exception {
        int partition = Integer.parseInt(words[3]);
        int end = 4;
        while (!words[end].equals("--")) end++;
        Map<String, String> options = new HashMap<>();
        options.put("linger.ms", "60000");
        options.put("batch.size", "1000000");
        options.put("max.request.size", "50000000");
        options.putAll(Clients.options(words, 4, end));
        String outcome = options.remove("end");
        try (Clients.Writer writer = new Clients.Writer(words[1], options)) {
            if (outcome != null) {
                writer.producer.initTransactions();
                writer.producer.beginTransaction();
            }
            for (int i = end + 1; i < words.length; i++) {
                // Empty fields count: a limit below zero keeps those at the end.
                String[] fields = words[i].split(" ", -1);
                List<Header> headers = new ArrayList<>();
                for (int h = 3; h < fields.length; h++) {
                    int at = fields[h].indexOf('=');
                    String name = new String(bytes(fields[h].substring(0, at)), StandardCharsets.UTF_8);
                    headers.add(new RecordHeader(name, bytes(fields[h].substring(at + 1))));
                }
                writer.send(new ProducerRecord<>(
                    words[2], partition, Long.valueOf(fields[0]), bytes(fields[1]), bytes(fields[2]), headers));
            }
            writer.producer.flush();
            if (outcome != null) Workloads.finish(writer, outcome);
        }
    }

    /** Prints every record as `partition offset` and its text, partition by partition. */
    static void list(String[] words, PrintStream out) throws Exception {
        Map<Integer, StringBuilder> lines = new TreeMap<>();
        Reading.each(words[1], words[2], Clients.options(words, 3), record -> {
            StringBuilder text = lines.computeIfAbsent(record.partition(), partition -> new StringBuilder());
            text.append(record.partition()).append(' ').append(record.offset()).append(' ');
            append(text, record);
            text.append('\n');
        });
        lines.values().forEach(out::print);
    }

    private static void append(StringBuilder text, ConsumerRecord<byte[], byte[]> record) {
        text.append(record.timestamp()).append(' ').append(hex(record.key())).append(' ').append(hex(record.value()));
        for (Header header : record.headers()) {
            byte[] name = header.key().getBytes(StandardCharsets.UTF_8);
            text.append(' ').append(hex(name)).append('=').append(hex(header.value()));
        }
    }

    private static String hex(byte[] bytes) {
        return bytes == null ? "-" : Clients.hex(bytes);
    }

    private static byte[] bytes(String hex) {
        if (hex.equals("-")) return null;
        byte[] bytes = new byte[hex.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (Character.digit(hex.charAt(2 * i), 16) << 4 | Character.digit(hex.charAt(2 * i + 1), 16));
        }
        return bytes;
    }
}
