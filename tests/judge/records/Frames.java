import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.GZIPOutputStream;
import org.apache.kafka.common.compress.Lz4BlockOutputStream;
import org.xerial.snappy.Snappy;
import org.xerial.snappy.SnappyOutputStream;

/** The frames that the codecs' libraries write, beyond those that Kafka asks them for. Options come as any number. */
final class Frames {
    static byte[] compressed(Spec spec, byte[] plain) throws IOException {
        int option = spec.frame;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        switch (spec.codec) {
            case NONE:
                return plain;
            case GZIP:
                if (option % 2 == 0) {
                    pour(new GZIPOutputStream(out), plain, 0, plain.length);
                } else {
                    // Two members in a row.
                    int half = plain.length / 2;
                    pour(new GZIPOutputStream(out), plain, 0, half);
                    pour(new GZIPOutputStream(out), plain, half, plain.length - half);
                }
                return out.toByteArray();
            case SNAPPY:
                if (option % 3 == 0) return Snappy.compress(plain);
                pour(new SnappyOutputStream(out, 1024 << option % 6), plain, 0, plain.length);
                return out.toByteArray();
            case LZ4:
                // Blocks of 64 KiB to 4 MiB, with checksums and without; the wrong header checksum is magic 0's own.
                pour(new Lz4BlockOutputStream(out, 4 + option % 4, 1 + option / 4 % 17, option / 128 % 2 == 1, spec.magic == 0),
                    plain, 0, plain.length);
                return out.toByteArray();
            case ZSTD:
                return zstd(option, plain);
            default:
                throw new IllegalArgumentException(spec.codec.name);
        }
    }

    /** Levels −5 to 19, a checksum, flushed in the middle, two frames in a row. */
    private static byte[] zstd(int option, byte[] plain) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int half = plain.length / 2;
        for (int part = 0; part < 2; part++) {
            boolean both = option / 128 % 2 == 0;
            if (both && part == 1) break;
            int from = part == 0 ? 0 : half;
            int to = both || part == 1 ? plain.length : half;
            ZstdOutputStreamNoFinalizer frame = new ZstdOutputStreamNoFinalizer(out, option % 25 - 5);
            frame.setChecksum(option / 32 % 2 == 1);
            if (option / 64 % 2 == 1) {
                frame.write(plain, from, (to - from) / 2);
                frame.flush();
                from += (to - from) / 2;
            }
            frame.write(plain, from, to - from);
            frame.closeWithoutClosingParentStream();
        }
        return out.toByteArray();
    }

    private static void pour(OutputStream stream, byte[] plain, int from, int length) throws IOException {
        stream.write(plain, from, length);
        stream.close();
    }
}
