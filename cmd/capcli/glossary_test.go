package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"capcli/scenarios/outcome"
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

// plainWords are words in heads of tables that need no explanation.
var plainWords = strings.Fields(`1 5 80 80th 100 120 above actual after ahead an at before best beyond borrowed bought buys by bytes c cause chance
	change changes cheaper cheapest commit days difference do does doing drawn each early ended estimated ever every
	expiring far first fitted for found free frees from front gib h have head heads if in is it its job knows largest last late
	least left long longest loses ms machine-hour max may mean mem memory measured met minute model month more move most never no not
	nothing number once one over p90 paid --policy preempt preempted recorded requested reservations s served shows size µs
	simulated so spent started that the their then these this two under was what whole why with without worst worth`)

// TestGlossaryHeads holds that the heads of the tables are made of words of the glossary and of
// plain words, and that the glossary is in order.
func TestGlossaryHeads(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "glossary.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, w := range plainWords {
		known[w] = true
	}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			for _, w := range headWords(cells[1]) {
				known[w], known[w+"s"] = true, true
			}
		}
	}
	heads := 0
	for _, folder := range []string{"../tables", "*", "../../cmd/report/paper"} {
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(folder), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, m := range headLiteral.FindAllStringSubmatch(string(source), -1) {
				heads++
				for _, w := range headWords(m[1]) {
					if !known[w] {
						t.Errorf("%s: the head %q has the word %q, which is not in docs/glossary.md", file, m[1], w)
					}
				}
			}
		}
	}
	if heads < 200 {
		t.Errorf("%d heads", heads)
	}
}

// headLiteral is a head of a table in the source.
var headLiteral = regexp.MustCompile(`\bHead: "([^"]*)"`)

// headWords are the words of a head, in small letters.
func headWords(head string) []string {
	return strings.FieldsFunc(strings.ToLower(head), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' || r == '’'
	})
}
