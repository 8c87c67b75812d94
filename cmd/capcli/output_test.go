package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/cmd/shell"
	"capcli/testdata/shelltest"
)

func verdictDoc() report.Doc {
	return report.Doc{
		Lead: "It is held.",
		Tables: []report.Table{
			{Name: "runs", Columns: []report.Column{{Name: "plan"}, {Name: "note", Priority: 1}, {Name: "limit"}}, Rows: [][]any{
				{"reserve64", strings.Repeat("long ", 20), report.Verdict{Text: "held", Good: true}},
			}},
			{Name: "tiers", Columns: []report.Column{{Name: "tier"}}, Rows: [][]any{{"spot"}}},
		},
		Notes: []string{"a note"},
		Data:  map[string]string{"schema": "capcli/test/v1"},
	}
}

func TestEmitColors(t *testing.T) {
	tests := []struct {
		name   string
		tty    bool
		env    map[string]string
		flag   bool
		form   string
		colors bool
	}{
		{"a terminal", true, nil, false, "", true},
		{"a pipe", false, nil, false, "table", false},
		{"NO_COLOR", true, map[string]string{"NO_COLOR": "1"}, false, "", false},
		{"TERM=dumb", true, map[string]string{"TERM": "dumb"}, false, "", false},
		{"--no-color", true, nil, true, "", false},
		{"CLICOLOR_FORCE in a pipe", false, map[string]string{"CLICOLOR_FORCE": "1"}, false, "table", true},
		{"CLICOLOR_FORCE=0 in a pipe", false, map[string]string{"CLICOLOR_FORCE": "0"}, false, "table", false},
		{"NO_COLOR wins over CLICOLOR_FORCE", true, map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, false, "", false},
		{"never in csv", true, map[string]string{"CLICOLOR_FORCE": "1"}, false, "csv", false},
		{"never in md", true, map[string]string{"CLICOLOR_FORCE": "1"}, false, "md", false},
	}
	for _, tt := range tests {
		e, stdout, _ := shelltest.NewEnv()
		e.Screen.Stdout, e.NoColor = tt.tty, tt.flag
		e.Getenv = func(name string) string { return tt.env[name] }
		if err := shell.Emit(e, shell.OutputOptions{Form: tt.form}, verdictDoc()); err != nil {
			t.Fatal(err)
		}
		if got := bytes.ContainsRune(stdout.Bytes(), 0x1b); got != tt.colors {
			t.Errorf("%s: escapes %v, want %v:\n%s", tt.name, got, tt.colors, stdout)
		}
	}
}

func TestEmitChoosesForm(t *testing.T) {
	file := t.TempDir() + "/r."
	tests := []struct {
		name string
		tty  bool
		o    shell.OutputOptions
		want string
	}{
		{"a terminal", true, shell.OutputOptions{}, "table"},
		{"a pipe", false, shell.OutputOptions{}, "tsv"},
		{"the name", true, shell.OutputOptions{Form: "md"}, "md"},
		{"the ending", false, shell.OutputOptions{Out: file + "json"}, "json"},
		{"the name over the ending", false, shell.OutputOptions{Out: file + "json", Form: "csv"}, "csv"},
		{"no ending that we know", false, shell.OutputOptions{Out: file + "txt"}, "table"},
		{"stdout by its name", false, shell.OutputOptions{Out: "-"}, "tsv"},
	}
	for _, tt := range tests {
		e, _, _ := shelltest.NewEnv()
		e.Screen.Stdout = tt.tty
		if got := tt.o.Shape(e); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestEmitHidesColumnsOnATerminalOnly(t *testing.T) {
	tests := []struct {
		name    string
		tty     bool
		columns []string
		width   int
		hidden  bool
	}{
		{"80 columns", true, nil, 80, true},
		{"width not known", true, nil, 0, true},
		{"200 columns", true, nil, 200, false},
		{"--columns all", true, []string{shell.AllColumns}, 80, false},
		{"a pipe", false, nil, 80, false},
	}
	for _, tt := range tests {
		e, stdout, _ := shelltest.NewEnv()
		e.Screen = shell.Screen{Stdout: tt.tty, Width: tt.width}
		if err := shell.Emit(e, shell.OutputOptions{Form: "table", Columns: tt.columns}, verdictDoc()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(stdout.String(), "1 column hidden (note), --columns all"); got != tt.hidden {
			t.Errorf("%s: hidden %v, want %v:\n%s", tt.name, got, tt.hidden, stdout)
		}
	}
}

func TestEmitTellsWhatIsLeftOut(t *testing.T) {
	e, stdout, stderr := shelltest.NewEnv()
	if err := shell.Emit(e, shell.OutputOptions{}, verdictDoc()); err != nil {
		t.Fatal(err)
	}
	if want := "note: tsv holds the table runs; there is also tiers (--table NAME)\nnote: a note\n"; stderr.String() != want {
		t.Errorf("stderr %q, want %q", stderr, want)
	}
	if want := "plan\tnote\tlimit\n"; !strings.HasPrefix(stdout.String(), want) {
		t.Errorf("stdout %q, want %q first", stdout, want)
	}
}

// walk calls f for every command that a user can call.
func walk(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			walk(c, f)
		}
	}
}

func TestHelpStartsWithExamplesAndFitsAScreen(t *testing.T) {
	e, _, _ := shelltest.NewEnv()
	walk(newRoot(e), func(cmd *cobra.Command) {
		var b bytes.Buffer
		shell.WriteHelp(&b, cmd)
		if n := bytes.Count(b.Bytes(), []byte("\n")); n > 44 {
			t.Errorf("%s --help has %d lines, over 44", cmd.CommandPath(), n)
		}
		if !strings.HasPrefix(b.String(), "examples:\n  capcli") {
			t.Errorf("%s --help does not start with examples:\n%s", cmd.CommandPath(), b.String())
		}
		for line := range strings.Lines(b.String()) {
			if n := len(line); n > 121 {
				t.Errorf("%s --help has a line of %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
	})
}

func TestProgress(t *testing.T) {
	tests := []struct {
		name  string
		tty   bool
		mode  string
		quiet bool
		env   map[string]string
		want  string
	}{
		{name: "a terminal", tty: true, want: "\r200/1,000 runs, 2.0 s, 100 runs/s, 8.0 s left\x1b[K\r\x1b[K1,000 runs, 4.0 s, 250 runs/s\n"},
		{name: "a log", want: "1,000 runs, 4.0 s, 250 runs/s\n"},
		{name: "TERM=dumb", tty: true, env: map[string]string{"TERM": "dumb"}, want: "1,000 runs, 4.0 s, 250 runs/s\n"},
		{name: "none", tty: true, mode: "none"},
		{name: "quiet", tty: true, quiet: true},
		{name: "json", mode: "json", want: `{"schema":"capcli/progress/v1","unit":"runs","done":200,"total":1000,"elapsed_s":2}` + "\n" +
			`{"schema":"capcli/progress/v1","unit":"runs","done":1000,"total":null,"elapsed_s":4}` + "\n"},
	}
	for _, tt := range tests {
		e, _, stderr := shelltest.NewEnv()
		at := time.Unix(0, 0)
		e.Now = func() time.Time { return at }
		e.Screen.Stderr, e.Progress, e.Quiet = tt.tty, tt.mode, tt.quiet
		e.Getenv = func(name string) string { return tt.env[name] }
		p := shell.NewProgress(e, "runs")
		at = at.Add(900 * time.Millisecond)
		p.Report(100, 1000) // too early to say anything
		at = at.Add(1100 * time.Millisecond)
		p.Report(200, 1000)
		at = at.Add(50 * time.Millisecond)
		p.Report(205, 1000) // too soon after the last
		at = at.Add(1950 * time.Millisecond)
		p.End(1000)
		if stderr.String() != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, stderr, tt.want)
		}
	}
}

func TestShortWaitsAreSilent(t *testing.T) {
	e, _, stderr := shelltest.NewEnv()
	e.Screen.Stderr = true
	p := shell.NewProgress(e, "runs")
	p.Report(1, 2)
	p.End(2)
	if stderr.Len() > 0 {
		t.Errorf("stderr %q", stderr)
	}
}

func TestErrorAsJSON(t *testing.T) {
	e, _, stderr := shelltest.NewEnv()
	e.Form = "json"
	shell.Conclude(e, &shell.UsageError{Text: "bad\x1b[2J", Hint: "do this"})
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	var got struct {
		Schema string
		Error  struct {
			Text, Hint string
			Exit       int
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != "capcli/error/v1" || got.Error.Exit != 2 || got.Error.Hint != "do this" {
		t.Errorf("got %+v", got)
	}
	if lines[0] != "error: bad" || lines[1] != "hint: do this" {
		t.Errorf("lines %q", lines)
	}
}
