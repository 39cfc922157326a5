// Makes the byte vectors of this folder with Kafka's own record classes: one file per magic and codec.
//
//   java -cp kafka-clients-3.9.1.jar:lz4-java-1.8.0.jar:slf4j-api-1.7.36.jar Vectors.java .
//
// The records are written down again in tests/records/story.rs; keep the two alike.

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.DefaultRecord;
import org.apache.kafka.common.record.DefaultRecordBatch;
import org.apache.kafka.common.record.EndTransactionMarker;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.Crc32C;

public class Vectors {
    static final long T = 1_500_000_000_000L;

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        Compression[] codecs = {Compression.NONE, Compression.gzip().build(), Compression.lz4().build()};
        for (Compression codec : codecs) {
            String name = codec.type().name;
            write(folder, "magic2-" + name, records((byte) 2, codec, TimestampType.CREATE_TIME, 0, -1, (short) -1, -1));
            write(folder, "magic2-" + name + "-stored",
                    records((byte) 2, codec, TimestampType.LOG_APPEND_TIME, 7_000_000_000L, 4711, (short) 3, 99));
            write(folder, "magic1-" + name, records((byte) 1, codec, TimestampType.CREATE_TIME, 0, -1, (short) -1, -1));
            write(folder, "magic1-" + name + "-stored",
                    records((byte) 1, codec, TimestampType.LOG_APPEND_TIME, 7_000_000_000L, -1, (short) -1, -1));
            write(folder, "magic1-" + name + "-compacted", compacted(codec));
        }
        write(folder, "magic2-negative", negative());
        write(folder, "magic2-abort", marker(ControlRecordType.ABORT));
        write(folder, "magic2-commit", marker(ControlRecordType.COMMIT));
    }

    static MemoryRecords records(byte magic, Compression codec, TimestampType type, long base, long id, short epoch,
            int sequence) {
        long appended = type == TimestampType.LOG_APPEND_TIME ? T + 77 : RecordBatch.NO_TIMESTAMP;
        MemoryRecordsBuilder builder = MemoryRecords.builder(ByteBuffer.allocate(1 << 20), magic, codec, type, base,
                appended, id, epoch, sequence, false, -1);
        Header[] headers = {header("trace", "first"), header("trace", "second"), header("", ""),
            header("null", null)};
        append(builder, T, "key", "value", headers);
        append(builder, T + 5, null, "null key");
        append(builder, T - 1000, "tombstone", null);
        append(builder, T + 1, null, null);
        append(builder, T + 3_000_000_000L, "", "");
        append(builder, -1, "no time", "at all");
        append(builder, 0, "long", "0123456789".repeat(200));
        return builder.build();
    }

    /** Offsets 1000, 1004 and 1005 are left of a set that ended there. */
    static MemoryRecords compacted(Compression codec) {
        MemoryRecordsBuilder builder = MemoryRecords.builder(ByteBuffer.allocate(1 << 20), (byte) 1, codec,
                TimestampType.CREATE_TIME, 1000);
        for (int offset : new int[] {1000, 1004, 1005}) {
            builder.appendWithOffset(offset, T + offset, bytes("k" + offset), bytes("v" + offset));
        }
        return builder.build();
    }

    /** Timestamps before 1970: the builder refuses them, brokers and consumers do not. */
    static MemoryRecords negative() throws Exception {
        ByteArrayOutputStream payload = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(payload);
        long[] timestamps = {-1000, -5, -2_000_000_000_000L};
        for (int i = 0; i < timestamps.length; i++) {
            ByteBuffer key = ByteBuffer.wrap(bytes("k" + i));
            DefaultRecord.writeTo(out, i, timestamps[i] - timestamps[0], key, null, new Header[0]);
        }
        ByteBuffer batch = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD + payload.size());
        batch.position(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
        batch.put(payload.toByteArray());
        batch.position(0);
        DefaultRecordBatch.writeHeader(batch, 0, timestamps.length - 1, batch.capacity(), (byte) 2,
                CompressionType.NONE, TimestampType.CREATE_TIME, 0, -1, -1, (short) -1, -1, false, false, false, -1,
                timestamps.length);
        batch.position(0);
        batch.putLong(27, timestamps[0]);
        batch.putInt(17, (int) Crc32C.compute(batch, 21, batch.capacity() - 21));
        MemoryRecords records = MemoryRecords.readableRecords(batch);
        records.batches().iterator().next().ensureValid();
        return records;
    }

    static MemoryRecords marker(ControlRecordType type) {
        return MemoryRecords.withEndTransactionMarker(12, T, 9, 4711, (short) 3, new EndTransactionMarker(type, 42));
    }

    static void append(MemoryRecordsBuilder builder, long timestamp, String key, String value, Header... headers) {
        // Before magic 2 there are no headers.
        Header[] carried = builder.magic() == 2 ? headers : new Header[0];
        builder.append(timestamp, bytes(key), bytes(value), carried);
    }

    static Header header(String name, String value) {
        return new RecordHeader(name, bytes(value));
    }

    static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    static void write(Path folder, String name, MemoryRecords records) throws Exception {
        ByteBuffer buffer = records.buffer().duplicate();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        StringBuilder hex = new StringBuilder();
        for (int i = 0; i < bytes.length; i += 60) {
            for (byte b : Arrays.copyOfRange(bytes, i, Math.min(i + 60, bytes.length))) {
                hex.append(String.format("%02x", b));
            }
            hex.append('\n');
        }
        Files.writeString(folder.resolve(name + ".hex"), hex);
    }
}
