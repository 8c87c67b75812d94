package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capcli/cmd/shell"
	"capcli/testdata/shelltest"
)

// readmePath are the commands of the README's path from a log to an answer, as
// they are written there, without the import.
func readmePath(t *testing.T) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "## From your log to an answer\n")
	_, rest, begun := strings.Cut(rest, "```\n")
	block, _, done := strings.Cut(rest, "\n```\n")
	if !ok || !begun || !done {
		t.Fatal("the README has no path from a log to an answer")
	}
	var out [][]string
	for line := range strings.Lines(block) {
		command, _, _ := strings.Cut(line, " #")
		words := strings.Fields(strings.ReplaceAll(command, "'", ""))
		if len(words) > 1 && words[0] == "capcli" && words[1] != "import" {
			out = append(out, words[1:])
		}
	}
	if len(out) < 4 {
		t.Fatalf("the README's path has %d commands after the import: %v", len(out), out)
	}
	return out
}

// TestReadmePath walks the README's path on logs of three shapes, and on the
// real ones where they are at hand: each step ends well, jobs run, and each
// simulation says the waits that the log recorded, where it records them.
func TestReadmePath(t *testing.T) {
	logs := filepath.Join("..", "..", "testdata", "logs")
	real := filepath.Join("..", "..", "..", "shared", "data")
	for _, log := range []struct {
		file     string
		recorded bool
	}{
		{filepath.Join(logs, "slurm.psv"), true},
		{filepath.Join(logs, "philly.json"), true},
		{filepath.Join(logs, "helios.csv"), true},
		{filepath.Join(real, "philly", "philly_sia.csv.gz"), false},
		{filepath.Join(real, "helios", "helios_venus_2vc_sept.csv"), false},
		{filepath.Join(real, "sacct", "lab-sacct-all.psv"), true},
		{filepath.Join(real, "calibration", "curie-hybrid-2012.csv.gz"), true},
	} {
		t.Run(filepath.Base(log.file), func(t *testing.T) {
			file, err := filepath.Abs(log.file)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(file); err != nil {
				t.Skipf("%s is not at hand", log.file)
			}
			path := readmePath(t)
			t.Chdir(t.TempDir())
			walkReadme(t, append([][]string{{"import", "auto", file, "--tz", "UTC", "--out", "jobs.parquet"}}, path...), log.recorded)
		})
	}
}

// walkReadme runs the commands one after another.
func walkReadme(t *testing.T, commands [][]string, recorded bool) {
	t.Helper()
	for _, words := range commands {
		e, stdout, stderr := shelltest.NewEnv()
		if words[0] == "simulate" {
			words = append(words, "-o", "table")
		}
		code := run(context.Background(), e, words)
		conditional := strings.Contains(strings.Join(words, " "), "--fail-if")
		if code != 0 && (code != shell.ExitCondition || !conditional) && code != shell.ExitPartial {
			t.Fatalf("%v: exit %d\n%s", words, code, stderr)
		}
		if words[0] != "simulate" {
			continue
		}
		lead, _, _ := strings.Cut(stdout.String(), "\n\n")
		if strings.HasPrefix(lead, "0 jobs") || strings.Contains(lead, "none started") {
			t.Errorf("%v: nothing ran: %s", words, lead)
		}
		if has := strings.Contains(lead, "Waits in the log: p95 ") && strings.Contains(lead, "simulated: "); has != recorded {
			t.Errorf("%v: says the waits of the log: %v, want %v: %s", words, has, recorded, lead)
		}
	}
}

// trimLines takes blanks off the ends of lines.
func trimLines(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}
