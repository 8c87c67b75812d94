package main

import (
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capcli/cmd/files"
	"capcli/cmd/shell"
	"capcli/testdata/shelltest"
)

// A log, however small when packed, cannot fill the disk with rejected rows: the file of them ends
// with a line that says so, and so does the report.
func TestRejectsAreCapped(t *testing.T) {
	dir := t.TempDir()
	const rows = 90 // 79 MiB, of which 64 fit
	e, out, errs := shelltest.NewEnv()
	parts := []io.Reader{strings.NewReader("job_id,submit,gpus,run_s\na,0,1,1\n")}
	bad := "b,x,1," + strings.Repeat("1", 900<<10) + "\n"
	for range rows {
		parts = append(parts, strings.NewReader(bad))
	}
	e.Stdin = io.MultiReader(parts...)
	if code := run(t.Context(), e, []string{"import", "csv", "-", "--out", filepath.Join(dir, "jobs.csv")}); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	text := out.String()
	const said = "18 rejected rows from line 75 on not listed: the file is full at 64 MiB"
	if !strings.Contains(text, said) {
		t.Errorf("the report does not say that rows are missing: %s", text)
	}
	f, err := os.Open(filepath.Join(dir, "jobs.rejects.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() > files.MaxRejects+1<<12 || info.Size() < files.MaxRejects-1<<20 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	listed, err := csv.NewReader(f).ReadAll()
	if err != nil || len(listed) != 1+rows-18+1 {
		t.Fatalf("%d lines, %v", len(listed), err)
	}
	if last := listed[len(listed)-1]; last[0] != "75" || last[1] != said {
		t.Errorf("the last line is %q", last)
	}
}

// Control characters in names are data in a file and nothing on a terminal, in any
// form that a result has.
func TestTerminalsGetNoControlCharacters(t *testing.T) {
	const evil = "evil\x1b]0;owned\x07\x1b[31m\u009b2Jred\u202ebidi"
	dir := t.TempDir()
	in := filepath.Join(dir, "jobs.csv")
	if err := os.WriteFile(in, []byte("job_id,tenant,submit,gpus,run_s\na,"+evil+",0,1,3600\nb,\"two\nlines\",0,1,3600\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	commands := map[string][]string{
		"csv":   {"trace", "describe", in, "--table", "tenants", "-o", "csv"},
		"tsv":   {"trace", "describe", in, "--table", "tenants", "-o", "tsv"},
		"json":  {"trace", "describe", in, "-o", "json"},
		"jsonl": {"trace", "describe", in, "--table", "tenants", "-o", "jsonl"},
		"md":    {"trace", "describe", in, "--table", "tenants", "-o", "md"},
		"table": {"trace", "describe", in, "--table", "tenants", "-o", "table"},
		"jobs":  {"import", "csv", in, "--out", "-"},
		"focus": {"simulate", "--trace", in, "-o", "focus"},
	}
	for name, args := range commands {
		t.Run(name, func(t *testing.T) {
			shown := map[bool]string{}
			for _, terminal := range []bool{false, true} {
				e, out, errs := shelltest.NewEnv()
				e.Screen = shell.Screen{Stdout: terminal, Stderr: terminal, Width: 200}
				if code := run(t.Context(), e, args); code != 0 {
					t.Fatalf("exit %d: %s", code, errs)
				}
				shown[terminal] = out.String()
			}
			if strings.ContainsAny(shown[true], "\x1b\x07\u009b\u202e") || !strings.Contains(shown[true], "evil") || !strings.Contains(shown[true], "redbidi") {
				t.Errorf("a terminal gets %q", shown[true])
			}
			if name == "csv" || name == "focus" || name == "jobs" {
				rows, err := csv.NewReader(strings.NewReader(shown[false])).ReadAll()
				if text := strings.Join(strings.Fields(strings.Join(flat(rows), " ")), " "); err != nil || !strings.Contains(text, evil) || !strings.Contains(strings.Join(flat(rows), "|"), "two\nlines") {
					t.Errorf("a file gets %q, %v", shown[false], err)
				}
			}
		})
	}
}

func flat(rows [][]string) (out []string) {
	for _, r := range rows {
		out = append(out, r...)
	}
	return out
}
