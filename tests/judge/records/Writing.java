import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.DefaultRecord;
import org.apache.kafka.common.record.DefaultRecordBatch;
import org.apache.kafka.common.record.EndTransactionMarker;
import org.apache.kafka.common.record.LegacyRecord;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.ByteBufferOutputStream;
import org.apache.kafka.common.utils.Crc32C;
import org.apache.kafka.common.utils.Time;

/** Writes record sets: as a producer does, as brokers convert and compact them, and by hand where Kafka's builder has no say. */
final class Writing {
    static ByteBuffer set(Spec spec) throws Exception {
        if (spec.how == 2) return marker(spec).buffer();
        MemoryRecords set = MemoryRecords.readableRecords(
            spec.how == 0 ? built(spec).buffer() : spec.magic == 2 ? batch(spec) : messages(spec));
        if (spec.convertTo >= 0) {
            set = (MemoryRecords) set.downConvert(spec.convertTo, 0, Time.SYSTEM).records();
        }
        return spec.kept == null ? set.buffer() : compacted(set, spec);
    }

    private static MemoryRecords marker(Spec spec) {
        ControlRecordType type = spec.frame % 2 == 0 ? ControlRecordType.ABORT : ControlRecordType.COMMIT;
        return MemoryRecords.withEndTransactionMarker(spec.baseOffset, spec.appendTime, spec.leaderEpoch, spec.producerId,
            spec.producerEpoch, new EndTransactionMarker(type, spec.baseSequence));
    }

    private static MemoryRecords built(Spec spec) {
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(new ByteBufferOutputStream(1 << 12), spec.magic,
            compression(spec), spec.timestampType, spec.baseOffset, spec.appendTime, spec.producerId, spec.producerEpoch,
            spec.baseSequence, spec.transactional, false, spec.leaderEpoch, Integer.MAX_VALUE, spec.deleteHorizon);
        for (Spec.Entry record : spec.records) {
            builder.appendWithOffset(record.offset, record.timestamp, record.key, record.value, record.headers);
        }
        return builder.build();
    }

    private static Compression compression(Spec spec) {
        if (spec.level == Integer.MIN_VALUE) return Compression.of(spec.codec).build();
        switch (spec.codec) {
            case GZIP: return Compression.gzip().level(spec.level).build();
            case LZ4: return Compression.lz4().level(spec.level).build();
            case ZSTD: return Compression.zstd().level(spec.level).build();
            default: return Compression.of(spec.codec).build();
        }
    }

    /** A batch of magic 2 with any timestamps and any frame: the builder refuses times before 1970, brokers do not. */
    private static ByteBuffer batch(Spec spec) throws Exception {
        ByteArrayOutputStream plain = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(plain);
        long first = spec.records[0].timestamp;
        long max = RecordBatch.NO_TIMESTAMP;
        for (Spec.Entry record : spec.records) {
            DefaultRecord.writeTo(out, (int) (record.offset - spec.baseOffset), record.timestamp - first, wrap(record.key),
                wrap(record.value), record.headers);
            max = Math.max(max, record.timestamp);
        }
        byte[] payload = Frames.compressed(spec, plain.toByteArray());
        ByteBuffer batch = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD + payload.length);
        batch.position(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
        batch.put(payload);
        batch.position(0);
        DefaultRecordBatch.writeHeader(batch, spec.baseOffset, (int) (spec.lastOffset() - spec.baseOffset), batch.capacity(),
            (byte) 2, spec.codec, spec.timestampType, 0, spec.timestampType == TimestampType.LOG_APPEND_TIME ? spec.appendTime : max,
            spec.producerId, spec.producerEpoch, spec.baseSequence, spec.transactional, false, false, spec.leaderEpoch,
            spec.records.length);
        batch.position(0);
        batch.putLong(27, first);
        batch.putInt(17, (int) Crc32C.compute(batch, 21, batch.capacity() - 21));
        return batch;
    }

    /** Messages of magic 0 or 1; with a codec in one wrapper, whose inner offsets count from any base. */
    private static ByteBuffer messages(Spec spec) throws Exception {
        boolean wraps = spec.codec != CompressionType.NONE;
        ByteArrayOutputStream plain = new ByteArrayOutputStream();
        long max = RecordBatch.NO_TIMESTAMP;
        for (Spec.Entry record : spec.records) {
            long offset = wraps && spec.magic == 1 ? record.offset - spec.innerBase : record.offset;
            message(plain, spec, offset, record.timestamp, record.key, record.value, CompressionType.NONE);
            max = Math.max(max, record.timestamp);
        }
        if (!wraps) return ByteBuffer.wrap(plain.toByteArray());
        ByteArrayOutputStream wrapper = new ByteArrayOutputStream();
        long timestamp = spec.timestampType == TimestampType.LOG_APPEND_TIME ? spec.appendTime : max;
        message(wrapper, spec, spec.lastOffset(), timestamp, null, Frames.compressed(spec, plain.toByteArray()), spec.codec);
        return ByteBuffer.wrap(wrapper.toByteArray());
    }

    /** LegacyRecord refuses times before 1970: the fields one by one. */
    private static void message(ByteArrayOutputStream to, Spec spec, long offset, long timestamp, byte[] key, byte[] value,
            CompressionType codec) throws Exception {
        ByteArrayOutputStream covered = new ByteArrayOutputStream();
        DataOutputStream body = new DataOutputStream(covered);
        body.writeByte(spec.magic);
        body.writeByte(LegacyRecord.computeAttributes(spec.magic, codec,
            spec.magic == 0 ? TimestampType.NO_TIMESTAMP_TYPE : spec.timestampType));
        if (spec.magic == 1) body.writeLong(timestamp);
        for (byte[] part : new byte[][] {key, value}) {
            body.writeInt(part == null ? -1 : part.length);
            if (part != null) body.write(part);
        }
        CRC32 crc = new CRC32();
        crc.update(covered.toByteArray());
        DataOutputStream out = new DataOutputStream(to);
        out.writeLong(offset);
        out.writeInt(4 + covered.size());
        out.writeInt((int) crc.getValue());
        covered.writeTo(out);
    }

    /** As the log cleaner leaves a set: records gone, tombstones with a horizon, batches empty where their producer's state is. */
    private static ByteBuffer compacted(MemoryRecords set, Spec spec) {
        ByteBuffer left = ByteBuffer.allocate(set.sizeInBytes() + 4096);
        MemoryRecords.RecordFilter filter = new MemoryRecords.RecordFilter(1_600_000_000_000L, spec.frame % 3 == 0 ? 86_400_000 : 0) {
            @Override
            protected BatchRetentionResult checkBatchRetention(RecordBatch batch) {
                return new BatchRetentionResult(batch.hasProducerId() ? BatchRetention.RETAIN_EMPTY : BatchRetention.DELETE_EMPTY, false);
            }

            @Override
            protected boolean shouldRetainRecord(RecordBatch batch, Record record) {
                int index = (int) (record.offset() % spec.kept.length);
                return spec.kept[index] != 0;
            }
        };
        ByteBuffer filtered = set.filterTo(new TopicPartition("t", 0), filter, left, Integer.MAX_VALUE, BufferSupplier.NO_CACHING)
            .outputBuffer();
        filtered.flip();
        return filtered;
    }

    private static ByteBuffer wrap(byte[] bytes) {
        return bytes == null ? null : ByteBuffer.wrap(bytes);
    }
}
