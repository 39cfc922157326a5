import java.io.PrintStream;

/** One command of the judge: its words in, its lines out. */
interface Command {
    /** Runs it; `words[0]` is its own name. */
    void run(String[] words, PrintStream out) throws Exception;
}
