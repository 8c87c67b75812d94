package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"capcli/cmd/bundle"
	"capcli/cmd/capcli/plan"
	"capcli/cmd/shell"
	"capcli/scenarios"
	"capcli/scenarios/outcome"
	"capcli/testdata/golden"
	"capcli/testdata/shelltest"
)

// The documents are tests. In README.md and docs/*.md
//
//   - a block ```console is a transcript: each line that starts with "$ " is run, and what
//     follows it is what the program prints on a terminal of 100 columns (stdout and stderr).
//     -update writes it anew;
//   - a block ```yaml NAME, ```csv NAME and the like is written to the file NAME first;
//   - a picture ![…](NAME.svg) is the file figures/NAME.svg that the document's commands drew;
//   - each capcli command of another block, and each in `code`, names commands and flags that
//     exist. Commands of blocks are run if all that they read is there by then.
//
// A document runs from top to bottom in a folder of its own, which has testdata beside it.

// docsClock is the time in which documents run.
var docsClock = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const docsWidth = 100

// docBlock is a fenced block of a document.
type docBlock struct {
	info       string // what follows ```
	line       int    // of its first line, from 1
	begin, end int    // its lines in the document
}

// docBlocks finds the fenced blocks of lines.
func docBlocks(lines []string) []docBlock {
	var out []docBlock
	open := false
	for i, l := range lines {
		switch {
		case !strings.HasPrefix(l, "```"):
		case open:
			out[len(out)-1].end, open = i, false
		default:
			out, open = append(out, docBlock{info: strings.TrimPrefix(l, "```"), line: i + 2, begin: i + 1, end: i + 1}), true
		}
	}
	return out
}

// documents are the files whose commands are tested, from the folder of the package.
func documents(t *testing.T) []string {
	t.Helper()
	out, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(out) < 5 {
		t.Fatalf("%d documents, %v", len(out), err)
	}
	return append([]string{filepath.Join("..", "..", "README.md")}, out...)
}

// docRun is one document in its folder.
type docRun struct {
	t       *testing.T
	name    string
	parsed  int           // commands that were parsed
	ran     int           // commands that were run
	slowest time.Duration // of one command
	slow    string
	next    map[string][]string // what commands propose, by command
}

// longDocuments take seconds each.
var longDocuments = []string{"best-mix.md", "explain.md", "heatmaps.md", "one-cluster.md", "plan.md", "stories.md"}

// TestDocuments runs the documents; see above.
func TestDocuments(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	played, parsed, ran := 0, 0, 0
	for _, file := range documents(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if slices.Contains(longDocuments, filepath.Base(file)) && !*update && golden.Short() {
				t.Skip("long: CAPCLI_FULL=1 runs it")
			}
			file, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			for _, name := range []string{"testdata", "contrib"} {
				if err := os.Symlink(filepath.Join(root, name), name); err != nil {
					t.Skipf("no links here: %v", err)
				}
			}
			d := &docRun{t: t, name: filepath.Base(file), next: map[string][]string{}}
			got := d.play(string(text))
			if d.name == "one-cluster.md" {
				oneCluster(t, d, got)
			}
			if filepath.Base(filepath.Dir(file)) == "docs" {
				d.pictures(string(text), filepath.Dir(file))
			}
			played, parsed, ran = played+1, parsed+d.parsed, ran+d.ran
			t.Logf("%d commands parsed, %d run; slowest %v: %s", d.parsed, d.ran, d.slowest.Round(time.Millisecond), d.slow)
			if got == string(text) {
				return
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("transcripts differ from what the program prints (go test ./cmd/capcli -run TestDocuments -update):\n%s", firstDifference(string(text), got))
		})
	}
	if t.Logf("%d commands parsed, %d run", parsed, ran); !t.Failed() && played == len(documents(t)) && (parsed < 120 || ran < 40) {
		t.Errorf("%d commands were parsed and %d run: are the documents read?", parsed, ran)
	}
}

// firstDifference shows where two texts part.
func firstDifference(have, want string) string {
	h, w := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range min(len(h), len(w)) {
		if h[i] != w[i] {
			return fmt.Sprintf("line %d is\n%s\nthe program prints\n%s", i+1, h[i], strings.Join(w[i:min(i+4, len(w))], "\n"))
		}
	}
	return fmt.Sprintf("%d lines, the program prints %d", len(h), len(w))
}

// play runs a document and returns it with the transcripts as the program prints them.
func (d *docRun) play(text string) string {
	lines := strings.Split(text, "\n")
	var out []string
	at := 0
	for _, b := range docBlocks(lines) {
		d.inline(strings.Join(lines[at:max(at, b.begin-1)], "\n"))
		out = append(out, lines[at:b.begin]...)
		body := lines[b.begin:b.end]
		kind, name, _ := strings.Cut(b.info, " ")
		switch {
		case kind == "console":
			body = d.transcript(body)
		case name != "":
			d.write(name, strings.Join(body, "\n")+"\n")
		case kind == "" || kind == "sh":
			d.block(body, b.line)
		}
		out, at = append(out, body...), b.end
	}
	d.inline(strings.Join(lines[at:], "\n"))
	return strings.Join(append(out, lines[at:]...), "\n")
}

// picture is an image in a document: its file.
var picture = regexp.MustCompile(`!\[[^\]]*\]\(([^)]+)\)`)

// pictures holds that each picture of a document is what its commands drew.
func (d *docRun) pictures(text, folder string) {
	for _, m := range picture.FindAllStringSubmatch(text, -1) {
		want, err := os.ReadFile(filepath.Join("figures", m[1]))
		if err != nil {
			d.t.Errorf("%s: no command of the document draws it: %v", m[0], err)
			continue
		}
		file := filepath.Join(folder, m[1])
		have, err := os.ReadFile(file)
		switch {
		case err == nil && bytes.Equal(have, want):
		case *update:
			if err := os.WriteFile(file, want, 0o600); err != nil {
				d.t.Error(err)
			}
		default:
			d.t.Errorf("%s is not what the program draws (-update writes it): %v", m[0], err)
		}
	}
}

func (d *docRun) write(name, text string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// transcript runs the commands of a transcript and returns it as it should be.
func (d *docRun) transcript(body []string) []string {
	var out []string
	for i := 0; i < len(body); i++ {
		if !strings.HasPrefix(body[i], "$ ") {
			continue
		}
		command := strings.TrimPrefix(body[i], "$ ")
		out = append(out, body[i])
		for strings.HasSuffix(command, "\\") && i+1 < len(body) {
			i++
			out, command = append(out, body[i]), strings.TrimSuffix(command, "\\")+" "+body[i]
		}
		if printed := strings.TrimRight(d.shell(command), "\n"); printed != "" {
			out = append(out, strings.Split(trimLines(printed), "\n")...)
			out = out[:len(out)-1] // trimLines ends with a new line
		}
	}
	return out
}

// shell runs one line of a transcript: capcli or cat, then head -N or ; echo $?.
func (d *docRun) shell(line string) string {
	d.t.Helper()
	var printed string
	code := 0
	for i, words := range shellCommands(line) {
		switch {
		case words[0] == "capcli":
			cmd := d.check(words[1:], line)
			printed, code = d.run(words[1:])
			d.spelling(cmd, printed, line)
		case words[0] == "cat" && i == 0:
			text, err := os.ReadFile(words[1])
			if err != nil {
				d.t.Errorf("%s: %v", line, err)
			}
			printed = string(text)
		case words[0] == "head":
			n := 0
			if _, err := fmt.Sscanf(words[1], "-%d", &n); err != nil {
				d.t.Errorf("%s: %v", line, err)
			}
			if i == 0 {
				text, err := os.ReadFile(words[2])
				if err != nil {
					d.t.Errorf("%s: %v", line, err)
				}
				printed = string(text)
			}
			lines := strings.SplitAfter(printed, "\n")
			printed = strings.Join(lines[:min(n, len(lines))], "")
		case words[0] == "echo" && len(words) == 2 && words[1] == "$?":
			return printed + fmt.Sprintf("%d\n", code)
		default:
			d.t.Errorf("%s: a transcript runs capcli, cat, head -N and echo $?, found %s", line, words[0])
		}
	}
	if code != 0 {
		d.t.Errorf("%s: exit %d\n%s", line, code, printed)
	}
	return printed
}

// run runs a command in the folder of the document, and returns what it prints on both streams.
func (d *docRun) run(args []string) (string, int) {
	e, _, _ := shelltest.NewEnv()
	var both bytes.Buffer
	e.Stdout, e.Stderr = &both, &both
	e.Screen, e.Now = shell.Screen{Stdout: true, Width: docsWidth}, func() time.Time { return docsClock }
	begun := time.Now()
	code := run(context.Background(), e, append(slices.Clone(args), "--no-color"))
	if took := time.Since(begun); took > d.slowest {
		d.slowest, d.slow = took, strings.Join(args, " ")
	}
	d.ran++
	for _, m := range nextLine.FindAllStringSubmatch(both.String(), -1) {
		d.next[commandLine(args)] = append(d.next[commandLine(args)], m[1])
	}
	return both.String(), code
}

// block parses the capcli commands of a block and runs those whose inputs are there.
func (d *docRun) block(body []string, line int) {
	text := regexp.MustCompile(`\\\n`).ReplaceAllString(strings.Join(body, "\n"), " ")
	for command := range strings.SplitSeq(text, "\n") {
		want := 0
		if _, after, ok := strings.Cut(command, "# exit "); ok {
			if _, err := fmt.Sscanf(after, "%d", &want); err != nil {
				d.t.Errorf("line %d: %s: %v", line, command, err)
			}
		}
		for _, words := range shellCommands(command) {
			at := slices.Index(words, "capcli")
			if at < 0 || strings.Contains(strings.Join(words, " "), "…") {
				continue
			}
			args := words[at+1:]
			cmd := d.check(args, command)
			if cmd == nil || len(shellCommands(command)) > 1 || !runsHere(cmd, args) {
				continue
			}
			if printed, code := d.run(args); code != want && (want != 0 || code != shell.ExitPartial) {
				d.t.Errorf("%s: exit %d, want %d\n%s", command, code, want, printed)
			}
		}
	}
}

// inlineCommand is a command in the text of a document.
var inlineCommand = regexp.MustCompile("`capcli ([^`]+)`")

// inline holds that the commands in `code` name commands and flags that exist.
func (d *docRun) inline(text string) {
	for _, m := range inlineCommand.FindAllStringSubmatch(text, -1) {
		root := newRoot(&shell.Env{})
		words := strings.Fields(strings.ReplaceAll(m[1], "\\|", "|"))
		cmd, _, err := root.Find(words[:1])
		if err != nil {
			d.t.Errorf("`%s`: %v", m[0], err)
			continue
		}
		if sub, _, err := root.Find(words); err == nil {
			cmd = sub
		}
		d.parsed++
		for _, w := range words {
			name, _, _ := strings.Cut(strings.TrimLeft(w, "["), "=")
			name = strings.Trim(name, "],.;:")
			if strings.HasPrefix(name, "--") && flagNamed(cmd, strings.TrimPrefix(name, "--")) == nil {
				d.t.Errorf("%s: %s has no flag %s", m[0], cmd.CommandPath(), name)
			}
		}
	}
}

// flagNamed is the flag of cmd, of the root or, for plan, of the commands that it stands for.
func flagNamed(cmd *cobra.Command, name string) *pflag.Flag {
	if f := cmd.Flag(name); f != nil {
		return f
	}
	if name == "help" {
		cmd.InitDefaultHelpFlag()
		return cmd.Flags().Lookup(name)
	}
	if cmd.Name() == "plan" {
		for _, c := range cmd.Commands() {
			if f := c.Flag(name); f != nil {
				return f
			}
		}
	}
	return nil
}

// check parses a command, and returns the command that it names; nil where it is wrong.
func (d *docRun) check(args []string, line string) *cobra.Command {
	d.t.Helper()
	d.parsed++
	root := newRoot(&shell.Env{})
	cmd, rest, err := root.Find(plan.ChoosePlan(root, args))
	if err == nil {
		cmd.InitDefaultHelpFlag()
		err = cmd.ParseFlags(rest)
	}
	if err != nil {
		d.t.Errorf("%s: %v", line, err)
		return nil
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if to := f.Annotations[bundle.RenamedTo]; len(to) == 1 && f.Hidden && slices.Contains(args, "--"+f.Name) {
			d.t.Errorf("%s: --%s is the old spelling of %s", line, f.Name, to[0])
		}
	})
	return cmd
}

// namedFlag is a flag in an output.
var namedFlag = regexp.MustCompile(`--([a-z][a-z-]+[a-z])`)

// spelling holds that what a command prints names its flags as its help does.
func (d *docRun) spelling(cmd *cobra.Command, printed, line string) {
	if cmd == nil {
		return
	}
	for _, m := range namedFlag.FindAllStringSubmatch(printed, -1) {
		if f := cmd.Flag(m[1]); f != nil && len(f.Annotations[bundle.RenamedTo]) == 1 {
			d.t.Errorf("%s: says --%s, which is now %s", line, m[1], f.Annotations[bundle.RenamedTo][0])
		}
	}
}

// attended are commands that look at the machine, at a server, or wait for a person.
var attended = []string{"doctor", "top", "serve", "explore", "completion"}

// writes are the flags whose value is a file that the command writes.
var writes = []string{"out", "save", "jobs-out", "decisions-out", "history-out", "nodes-out", "runs-out", "rejects", "timeline-out", "figures", "xlsx"}

// fileName is a word that names a file.
var fileName = regexp.MustCompile(`^[^:]+\.(csv|tsv|json|jsonl|ya?ml|parquet|psv|swf|html|gz|zst)$`)

// runsHere reports whether a parsed command can run in the folder: all files that it reads are
// there, and it needs no server, no GPU and nobody to stop it.
func runsHere(cmd *cobra.Command, args []string) bool {
	if slices.Contains(attended, cmd.Name()) || slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "://") }) {
		return false
	}
	if cmd.Name() == "profile" {
		source, speed := cmd.Flags().Lookup("source").Value.String(), cmd.Flags().Lookup("speed").Value.String()
		return source == "fake" && speed == "0"
	}
	there := func(name string) bool {
		_, err := os.Stat(name)
		return err == nil
	}
	ok := true
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(writes, f.Name) {
			return
		}
		for v := range strings.SplitSeq(strings.Trim(f.Value.String(), "[]"), ",") {
			if _, value, pair := strings.Cut(v, "="); pair {
				v = value
			}
			read := fileName.MatchString(v) || slices.Contains([]string{"from", "trace", "commitments"}, f.Name) && strings.Contains(v, "/")
			ok = ok && (!read || there(v)) && v != "-"
		}
	})
	for _, a := range cmd.Flags().Args() {
		ok = ok && (there(a) || !looksRead(cmd, a))
	}
	return ok
}

// looksRead reports whether an argument names something that cmd reads from the folder.
func looksRead(cmd *cobra.Command, arg string) bool {
	switch {
	case slices.Contains(scenarios.Names(), arg), outcome.MetricNamed(arg) != nil, strings.HasPrefix(cmd.CommandPath(), "capcli prices show"):
		return false
	case cmd.Name() == "import":
		return fileName.MatchString(arg)
	}
	return true
}

// shellCommands cuts a line into commands and these into words, as a shell does with quotes,
// comments, pipes and lists.
func shellCommands(line string) [][]string {
	var out [][]string
	var words []string
	var word strings.Builder
	begun, quote := false, rune(0)
	endWord := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			out = append(out, words)
		}
		words = nil
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' || r == '\t':
			endWord()
		case r == '#' && !begun:
			endCommand()
			return out
		case r == '|' || r == ';' || r == '&' || r == '>':
			endCommand()
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	endCommand()
	return out
}

func TestShellCommands(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{`capcli simulate a.yaml --fail-if 'wait_p95>30m'   # a comment`, "[[capcli simulate a.yaml --fail-if wait_p95>30m]]"},
		{`capcli forecast a.csv -o json | capcli plan --demand -`, "[[capcli forecast a.csv -o json] [capcli plan --demand -]]"},
		{`capcli version > out; echo "$?"`, "[[capcli version] [out] [echo $?]]"},
		{`# nothing`, "[]"},
	} {
		if got := fmt.Sprint(shellCommands(tt.line)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.line, got, tt.want)
		}
	}
}

// TestHelpExamples holds that the examples of each command's help, which are those of its man
// page, name commands and flags that exist.
func TestHelpExamples(t *testing.T) {
	d := &docRun{t: t}
	eachCommand(newRoot(&shell.Env{}), func(cmd *cobra.Command) {
		for line := range strings.SplitSeq(cmd.Example, "\n") {
			for _, words := range shellCommands(line) {
				if words[0] == "capcli" {
					d.check(words[1:], line)
				}
			}
		}
	})
	if d.parsed < 50 {
		t.Errorf("%d examples", d.parsed)
	}
}

// TestDocumentsIndex holds that the index of the documents names each of them, and that the README
// stays short.
func TestDocumentsIndex(t *testing.T) {
	index, err := os.ReadFile(filepath.Join("..", "..", "docs", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range documents(t)[1:] {
		if name := filepath.Base(file); name != "README.md" && !strings.Contains(string(index), "("+name+")") {
			t.Errorf("docs/README.md does not name %s", name)
		}
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	measured, err := os.ReadFile(filepath.Join("..", "..", "docs", "measurements.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(measured)) {
		if title, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok && title != "Contents" && !strings.Contains(string(measured), "\n- ["+title+"](") {
			t.Errorf("the contents of docs/measurements.md lack %q", title)
		}
	}
	for _, m := range picture.FindAllStringSubmatch(string(readme), -1) {
		page, err := os.ReadFile(filepath.Join("..", "..", "docs", "best-mix.md"))
		if err != nil || !strings.Contains(string(page), "]("+filepath.Base(m[1])+")") {
			t.Errorf("README.md shows %s, which docs/best-mix.md does not draw: %v", m[1], err)
		}
	}
	if n := strings.Count(string(readme), "\n"); n > 220 {
		t.Errorf("README.md has %d lines, want 220 or fewer", n)
	}
}
