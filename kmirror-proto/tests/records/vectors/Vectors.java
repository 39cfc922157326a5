// Makes the byte vectors of this folder with Kafka's own record classes: one file per magic and codec; and zstd-jni.hex,
// frames of the zstd library that Kafka uses.
//
//   java -cp kafka-clients-3.9.1.jar:lz4-java-1.8.0.jar:slf4j-api-1.7.36.jar:snappy-java-1.1.10.5.jar:zstd-jni-1.5.6-4.jar \
//       Vectors.java .
//
// The records are written down again in tests/records/story.rs; keep the two alike.

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
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
        Compression[] codecs = {Compression.NONE, Compression.gzip().build(), Compression.snappy().build(),
            Compression.lz4().build(), Compression.zstd().build()};
        for (Compression codec : codecs) {
            String name = codec.type().name;
            write(folder, "magic2-" + name, records((byte) 2, codec, TimestampType.CREATE_TIME, 0, -1, (short) -1, -1));
            write(folder, "magic2-" + name + "-stored",
                    records((byte) 2, codec, TimestampType.LOG_APPEND_TIME, 7_000_000_000L, 4711, (short) 3, 99));
            if (codec.type() == CompressionType.ZSTD) {
                // KIP-110: from magic 2 on.
                continue;
            }
            write(folder, "magic1-" + name, records((byte) 1, codec, TimestampType.CREATE_TIME, 0, -1, (short) -1, -1));
            write(folder, "magic1-" + name + "-stored",
                    records((byte) 1, codec, TimestampType.LOG_APPEND_TIME, 7_000_000_000L, -1, (short) -1, -1));
            write(folder, "magic1-" + name + "-compacted", compacted((byte) 1, codec));
            // No timestamps, so nothing a broker could set; what it stored has other offsets.
            write(folder, "magic0-" + name, records((byte) 0, codec, TimestampType.CREATE_TIME, 0, -1, (short) -1, -1));
            write(folder, "magic0-" + name + "-stored",
                    records((byte) 0, codec, TimestampType.CREATE_TIME, 7_000_000_000L, -1, (short) -1, -1));
            write(folder, "magic0-" + name + "-compacted", compacted((byte) 0, codec));
        }
        write(folder, "magic2-negative", negative());
        write(folder, "magic2-abort", marker(ControlRecordType.ABORT));
        write(folder, "magic2-commit", marker(ControlRecordType.COMMIT));
        Files.writeString(folder.resolve("zstd-jni.hex"), frames());
    }

    /** One line a frame: level, how it was written, bytes of content, the frame. */
    static String frames() throws Exception {
        StringBuilder lines = new StringBuilder();
        for (int level : new int[] {-5, 1, 3, 6, 12, 19}) {
            byte[] content = words(6000);
            line(lines, level, "sized", content, Zstd.compress(content, level));
            line(lines, level, "streamed", content, streamed(content, level, content.length, false));
            line(lines, level, "checksummed", content, streamed(content, level, content.length, true));
            // Flushed now and then: a frame of many small blocks, which share tables and copy from one another.
            line(lines, level, "flushed", content, streamed(content, level, 700, false));
        }
        byte[] large = words(200_000);
        line(lines, 3, "streamed", large, streamed(large, 3, large.length, false));
        line(lines, 1, "sized", new byte[1_000_000], Zstd.compress(new byte[1_000_000], 1));
        line(lines, 3, "sized", new byte[0], Zstd.compress(new byte[0], 3));
        ByteArrayOutputStream several = new ByteArrayOutputStream();
        several.write(Zstd.compress(Arrays.copyOf(words(6000), 2500), 3));
        several.write(streamed(Arrays.copyOfRange(words(6000), 2500, 6000), 1, 6000, true));
        line(lines, 3, "two", words(6000), several.toByteArray());
        return lines.toString();
    }

    static byte[] streamed(byte[] content, int level, int step, boolean checksum) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ZstdOutputStreamNoFinalizer frame = new ZstdOutputStreamNoFinalizer(out, level)) {
            frame.setChecksum(checksum);
            for (int at = 0; at < content.length; at += step) {
                frame.write(content, at, Math.min(step, content.length - at));
                if (step < content.length) {
                    frame.flush();
                }
            }
        }
        return out.toByteArray();
    }

    /** Text that compresses as text does; tests/records/java.rs has the same. */
    static byte[] words(int length) {
        String[] words = {"order ", "payment ", "customer ", "amount=", "true,", "null,", "{\"id\":", "2026-11-30 "};
        StringBuilder out = new StringBuilder();
        long state = 1;
        while (out.length() < length) {
            state = state * 6_364_136_223_846_793_005L + 1;
            out.append(words[(int) (state >>> 61)]);
            if ((state >>> 60 & 1) == 1) {
                out.append(state >>> 50 & 0x3ff);
            }
        }
        return out.substring(0, length).getBytes(StandardCharsets.UTF_8);
    }

    static void line(StringBuilder lines, int level, String how, byte[] content, byte[] frame) {
        lines.append(level).append(' ').append(how).append(' ').append(content.length).append(' ');
        for (byte b : frame) {
            lines.append(String.format("%02x", b));
        }
        lines.append('\n');
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
    static MemoryRecords compacted(byte magic, Compression codec) {
        MemoryRecordsBuilder builder = MemoryRecords.builder(ByteBuffer.allocate(1 << 20), magic, codec,
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
