package page

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"regexp"
	"strings"
	"testing"

	"capcli/cmd/report/paper"
	"capcli/scenarios/figure"
)

func samplePaper() *paper.Paper {
	return &paper.Paper{
		Schema: paper.Schema, Version: "test", Title: "H100 for 2027",
		Answer:  paper.Answer{Sentence: "Reserve 64 H100 for a year.", Heads: []paper.Headline{{Name: "cost a year", Value: 1695168, Unit: figure.USD, Text: "$1.70M", About: "2027"}}},
		Figures: []figure.Figure{{ID: "cost", Title: "Cost by number reserved", Sentence: "64 is cheapest.", Kind: figure.Lines, X: figure.Axis{Label: "GPUs", Unit: figure.Count}, Y: figure.Axis{Label: "cost a year", Unit: figure.USD}, Series: []figure.Series{{Name: "cost", X: []figure.Number{0, 64}, Y: []figure.Number{2e6, 1695168.4}}}}},
		Tables: []paper.Table{{
			ID: "bills", Title: "Bills", Columns: []paper.Column{{Name: "team", Unit: figure.Name}, {Name: "cost", Unit: figure.USD, Sum: true}},
			Rows: [][]any{{"</script><script>alert(1)</script>", figure.Number(3.5)}, {"total", figure.Number(3.5)}}, Total: true,
		}},
		Command: "capcli report runs/a",
	}
}

func TestWriteExtras(t *testing.T) {
	extra := Extra{ID: "what-if", Title: "What if", HTML: "<p>slide</p>", Style: ".x{color:red}", Scripts: []string{"let a=1"}, Data: []Data{{"engine", "text/plain", "AAAA"}}, WASM: true, Worker: true}
	var b bytes.Buffer
	if err := Write(&b, samplePaper(), Options{Extras: []Extra{extra}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<section id="what-if"`, "<p>slide</p>", "<style>.x{color:red}</style>", "<script>let a=1</script>",
		`<script type="text/plain" id="engine">AAAA</script>`, "worker-src blob:", "'wasm-unsafe-eval'",
		hashSource("let a=1"), hashSource(".x{color:red}"),
	} {
		if !strings.Contains(html.UnescapeString(b.String()), want) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, wrong := range []Extra{
		{ID: "a b"},
		{ID: "a", Scripts: []string{"x='</Script>'"}},
		{ID: "a", Data: []Data{{"d", "text/javascript", "x"}}},
		{ID: "a", Data: []Data{{"d", "text/plain", "</SCRIPT>"}}},
		{ID: "a", Data: []Data{{"d", "text/plain", "<!-- <script>"}}},
	} {
		if err := Write(&b, samplePaper(), Options{Extras: []Extra{wrong}}); err == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
}

func TestWriteHoldsItsDocument(t *testing.T) {
	var b bytes.Buffer
	p := samplePaper()
	if err := Write(&b, p, Options{}); err != nil {
		t.Fatal(err)
	}
	text, err := Document(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, want) {
		t.Errorf("the document inside the page is\n%s\nwant\n%s", text, want)
	}
	if _, err := Document([]byte("<html>")); err == nil {
		t.Error("a page without a document is taken")
	}
	if strings.Contains(b.String(), "wasm-unsafe-eval") || strings.Contains(b.String(), "worker-src") {
		t.Error("a page without a what-if lets scripts compile")
	}
}

func TestSplitAnswer(t *testing.T) {
	long := "Commit to 120 GPUs: $5.6M a year, 0.1% more. " + strings.Repeat("x", 200)
	tests := []struct {
		text string
		want answer
	}{
		{"Reserve 64.", answer{"", "Reserve 64.", ""}},
		{"NOT SERVED: a leaves 6.4% undone; PARTIAL: b. Reserve 64; wait.", answer{"NOT SERVED: a leaves 6.4% undone; PARTIAL: b. ", "Reserve 64; wait.", ""}},
		{"H100: reserve 64.", answer{"", "H100: reserve 64.", ""}},
		{long + "; all served; the rest", answer{"", long + "; ", "all served; the rest"}},
		{"PARTIAL: no end", answer{"", "PARTIAL: no end", ""}},
		{"", answer{}},
	}
	for _, tt := range tests {
		got := splitAnswer(tt.text)
		if got != tt.want {
			t.Errorf("%q: %+v, want %+v", tt.text, got, tt.want)
		}
		if got.Warning+got.Lead+got.Rest != tt.text {
			t.Errorf("%q loses words", tt.text)
		}
	}
}

// TestPolicyAllowsWhatIsThere holds that each script and style of a page has its hash in the policy,
// that the policy allows no other, and that nothing else in the page would need it.
func TestPolicyAllowsWhatIsThere(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, wholePaper(), Options{}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	found := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
	if found == nil {
		t.Fatal("the page has no policy")
	}
	got := html.UnescapeString(found[1])
	var styles, scripts []string
	for _, m := range regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindAllStringSubmatch(text, -1) {
		styles = append(styles, hashSource(m[1]))
	}
	for _, m := range regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(text, -1) {
		scripts = append(scripts, hashSource(m[1]))
	}
	want := "default-src 'none'; style-src " + strings.Join(styles, " ") + "; script-src " + strings.Join(scripts, " ") + "; base-uri 'none'; form-action 'none'"
	if got != want || len(styles) != 1 || len(scripts) != 1 {
		t.Errorf("policy\n%s\nwant\n%s", got, want)
	}
	for _, pattern := range []string{`\sstyle="`, `\son[a-z]+="`, `\ssrc="`, `href="[^#]`, `url\(`, `@import`} {
		if m := regexp.MustCompile(pattern).FindString(text); m != "" {
			t.Errorf("the page has %q", m)
		}
	}
}

func TestSameBytes(t *testing.T) {
	var first, second bytes.Buffer
	if err := Write(&first, wholePaper(), Options{}); err != nil {
		t.Fatal(err)
	}
	if err := Write(&second, wholePaper(), Options{}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("other bytes the second time")
	}
}

// TestTablesSayWhatTheyLeaveOut holds the cap of rows, the sum below them and what is not printed.
func TestTablesSayWhatTheyLeaveOut(t *testing.T) {
	p := samplePaper()
	table := &p.Tables[0]
	table.Rows = nil
	sum := 0
	for i := range 1000 {
		table.Rows = append(table.Rows, []any{"team", figure.Number(i)})
		sum += i
	}
	table.Rows = append(table.Rows, []any{"total", figure.Number(sum)})
	var b bytes.Buffer
	if err := Write(&b, p, Options{Rows: 50}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The first 50 of 1,000 rows.", "26 more rows are on the screen, not on paper.", "<tfoot><tr><td>total</td><td class=\"n\">$499,500.00</td></tr></tfoot>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if n := strings.Count(b.String(), "<td>team</td>"); n != 50 {
		t.Errorf("%d rows, want 50", n)
	}
	p.Tables = append(p.Tables, p.Tables[0])
	if err := Write(&b, p, Options{}); err == nil {
		t.Error("two tables with the same ID are taken")
	}
}

func BenchmarkWriteLarge(b *testing.B) {
	p := largePaper()
	for b.Loop() {
		if err := Write(io.Discard, p, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
