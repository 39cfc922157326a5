import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.PrintStream;
import java.nio.ByteBuffer;

/**
 * Kafka's own record classes behind a pipe: reads record sets and says what is in them, and writes sets as it is told.
 *
 * <pre>
 * in     [i32 questions] then each [i32 length][u8 kind][...]      kind 0: read the set that follows; 1: write one, see Writing
 * out    [i32 answers]   then each [i32 length][u8 status][...]    status 0: the answer; 1: why there is none, as text
 * read   what Reading says of the set
 * write  the set
 * </pre>
 *
 * All questions of one frame are read before the first answer is written. The end of the input ends the program.
 */
public final class RecordsJudge {
    public static void main(String[] args) throws Exception {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out, 1 << 16));
        // Whatever a library prints must not get between the answers.
        System.setOut(new PrintStream(System.err, true));
        while (true) {
            byte[][] questions;
            try {
                questions = new byte[in.readInt()][];
            } catch (EOFException end) {
                return;
            }
            for (int i = 0; i < questions.length; i++) {
                questions[i] = new byte[in.readInt()];
                in.readFully(questions[i]);
            }
            out.writeInt(questions.length);
            for (byte[] question : questions) {
                byte[] answer = answer(ByteBuffer.wrap(question));
                out.writeInt(answer.length);
                out.write(answer);
            }
            out.flush();
        }
    }

    private static byte[] answer(ByteBuffer question) {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(said);
        try {
            out.writeByte(0);
            if (question.get() == 0) {
                Reading.describe(question.slice(), out);
            } else {
                ByteBuffer set = Writing.set(new Spec(question));
                byte[] bytes = new byte[set.remaining()];
                set.duplicate().get(bytes);
                out.write(bytes);
            }
            return said.toByteArray();
        } catch (Throwable failure) {
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            text.write(1);
            failure.printStackTrace(new PrintStream(text, true));
            return text.toByteArray();
        }
    }
}
