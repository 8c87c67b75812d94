package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadmePicture holds the picture in the README against what the program
// prints on a terminal of a hundred columns. Refresh it with -update.
func TestReadmePicture(t *testing.T) {
	e, stdout, _ := testEnv()
	e.screen = screen{stdout: true, width: 100}
	if code := run(context.Background(), e, []string{"simulate", "-o", "table", "--no-color"}); code != 0 {
		t.Fatalf("exit %d", code)
	}
	path := filepath.Join("..", "..", "README.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "$ capcli simulate -o table\n", "```\n"
	before, rest, ok := strings.Cut(string(text), begin)
	if !ok {
		t.Fatal("the README has no picture")
	}
	got, after, _ := strings.Cut(rest, end)
	want := trimLines(stdout.String())
	if got == want {
		return
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the README shows\n%s\nthe program prints\n%s", got, want)
}

// trimLines takes blanks off the ends of lines.
func trimLines(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}
