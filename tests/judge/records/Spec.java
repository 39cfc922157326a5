import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.TimestampType;

/** What set is to be written: the fields in the order in which they come. */
final class Spec {
    /** 0: Kafka's builder; 1: by hand, with any frame; 2: a transaction marker. */
    final byte how;
    final byte magic;
    final CompressionType codec;
    /** Of the builder; the smallest number for its own. */
    final int level;
    /** By hand: the frame's options, whatever they are in the codec. */
    final int frame;
    final TimestampType timestampType;
    final long appendTime;
    final long baseOffset;
    /** By hand, magic 1 in a wrapper: what inner offsets count from. */
    final long innerBase;
    final long producerId;
    final short producerEpoch;
    final int baseSequence;
    final boolean transactional;
    final int leaderEpoch;
    /** Or -1. */
    final long deleteHorizon;
    /** Compaction removes the records whose flag is 0, and stays away if there is none. */
    final byte[] kept;
    /** Or -1: the format that a broker converts it to. */
    final byte convertTo;
    final Entry[] records;

    /** One record. */
    static final class Entry {
        final long offset;
        final long timestamp;
        final byte[] key;
        final byte[] value;
        final Header[] headers;

        Entry(ByteBuffer in) {
            offset = in.getLong();
            timestamp = in.getLong();
            key = bytes(in);
            value = bytes(in);
            headers = new Header[in.getInt()];
            for (int i = 0; i < headers.length; i++) {
                headers[i] = new RecordHeader(new String(bytes(in), StandardCharsets.UTF_8), bytes(in));
            }
        }
    }

    Spec(ByteBuffer in) {
        how = in.get();
        magic = in.get();
        codec = CompressionType.forId(in.get());
        level = in.getInt();
        frame = in.getInt();
        timestampType = in.get() == 1 ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME;
        appendTime = in.getLong();
        baseOffset = in.getLong();
        innerBase = in.getLong();
        producerId = in.getLong();
        producerEpoch = in.getShort();
        baseSequence = in.getInt();
        transactional = in.get() == 1;
        leaderEpoch = in.getInt();
        deleteHorizon = in.getLong();
        kept = bytes(in);
        convertTo = in.get();
        records = new Entry[in.getInt()];
        for (int i = 0; i < records.length; i++) {
            records[i] = new Entry(in);
        }
        if (in.hasRemaining()) throw new IllegalArgumentException(in.remaining() + " bytes too many");
    }

    long lastOffset() {
        return records[records.length - 1].offset;
    }

    private static byte[] bytes(ByteBuffer in) {
        int length = in.getInt();
        if (length < 0) return null;
        byte[] bytes = new byte[length];
        in.get(bytes);
        return bytes;
    }
}
