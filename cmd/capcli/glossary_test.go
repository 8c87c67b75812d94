package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capcli/simulate/outcome"
)

// TestGlossaryMetrics holds that the glossary has every metric, as the table of the
// metrics says it. Refresh it with -update.
func TestGlossaryMetrics(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "glossary.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- metrics -->\n", "<!-- end -->"
	head, rest, ok := strings.Cut(string(text), begin)
	have, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the metrics: want %q … %q", file, begin, end)
	}
	var want strings.Builder
	want.WriteString("| metric | unit | better | what it is |\n|---|---|---|---|\n")
	for _, m := range outcome.Metrics {
		better := "less"
		if m.AtMin {
			better = "more"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", m.Name, m.Unit, better, m.Doc)
	}
	if have == want.String() {
		return
	}
	if !*update {
		t.Fatalf("%s: the metrics are\n%s\nwant\n%s\nrefresh it with -update", file, have, want.String())
	}
	if err := os.WriteFile(file, []byte(head+begin+want.String()+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
