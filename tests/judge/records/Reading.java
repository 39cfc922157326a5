import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.AbstractLegacyRecordBatch;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.EndTransactionMarker;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;

/**
 * What is in a record set, as MemoryRecords reads it.
 *
 * <pre>
 * set     [i32 batches] then each
 * batch   [u8 magic][i32 size][u32 stored crc][u8 valid]; only if valid: [i64 base offset][i64 last offset][u8 codec]
 *         [i8 timestamp type][i64 max timestamp][i64 producer id][i16 epoch][i32 base sequence][u8 transactional]
 *         [u8 control][i32 leader epoch][i32 count, -1 if the format has none][i64 delete horizon, min if none]
 *         [u8 marker] if 1: [i16 type][i32 coordinator epoch]
 *         [i32 records] then each
 * record  [i64 offset][i64 timestamp][u8 valid][key][value][i32 headers] then each [name][value]
 * bytes   [i32 length, -1 if null][...]
 * </pre>
 */
final class Reading {
    static void describe(ByteBuffer set, DataOutputStream out) throws Exception {
        MemoryRecords records = MemoryRecords.readableRecords(set);
        List<MutableRecordBatch> batches = new ArrayList<>();
        records.batches().forEach(batches::add);
        out.writeInt(batches.size());
        for (MutableRecordBatch batch : batches) {
            out.writeByte(batch.magic());
            out.writeInt(batch.sizeInBytes());
            out.writeInt((int) batch.checksum());
            out.writeBoolean(batch.isValid());
            if (batch.isValid()) batch(batch, out);
        }
    }

    private static void batch(RecordBatch batch, DataOutputStream out) throws Exception {
        out.writeLong(batch.baseOffset());
        out.writeLong(batch.lastOffset());
        out.writeByte(batch.compressionType().id);
        out.writeByte(batch.timestampType().id);
        out.writeLong(batch.maxTimestamp());
        out.writeLong(batch.producerId());
        out.writeShort(batch.producerEpoch());
        out.writeInt(batch.baseSequence());
        out.writeBoolean(batch.isTransactional());
        out.writeBoolean(batch.isControlBatch());
        out.writeInt(batch.partitionLeaderEpoch());
        out.writeInt(batch.countOrNull() == null ? -1 : batch.countOrNull());
        out.writeLong(batch.deleteHorizonMs().orElse(Long.MIN_VALUE));
        List<Record> records = new ArrayList<>();
        batch.forEach(records::add);
        marker(batch, records, out);
        out.writeInt(records.size());
        for (Record record : records) {
            record(record, out);
        }
    }

    private static void marker(RecordBatch batch, List<Record> records, DataOutputStream out) throws IOException {
        boolean marks = batch.isControlBatch() && !records.isEmpty();
        out.writeBoolean(marks);
        if (marks) {
            Record record = records.get(0);
            out.writeShort(ControlRecordType.parseTypeId(record.key()));
            out.writeInt(EndTransactionMarker.deserialize(record).coordinatorEpoch());
        }
    }

    private static void record(Record record, DataOutputStream out) throws Exception {
        out.writeLong(record.offset());
        out.writeLong(record.timestamp());
        // Only records of magic 0 and 1 have a checksum of their own.
        out.writeBoolean(!(record instanceof AbstractLegacyRecordBatch) || ((AbstractLegacyRecordBatch) record).isValid());
        bytes(record.key(), out);
        bytes(record.value(), out);
        Header[] headers = record.headers();
        out.writeInt(headers.length);
        for (Header header : headers) {
            bytes(name(header), out);
            bytes(header.value() == null ? null : ByteBuffer.wrap(header.value()), out);
        }
    }

    /** The bytes of a header's name as they came: key() would replace what is not UTF-8. */
    private static ByteBuffer name(Header header) throws Exception {
        return ((ByteBuffer) NAME.get(header)).duplicate();
    }

    private static final Field NAME;

    static {
        try {
            NAME = RecordHeader.class.getDeclaredField("keyBuffer");
            NAME.setAccessible(true);
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void bytes(ByteBuffer bytes, DataOutputStream out) throws IOException {
        if (bytes == null) {
            out.writeInt(-1);
            return;
        }
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        out.writeInt(copy.length);
        out.write(copy);
    }
}
