package page

import (
	"bytes"
	"encoding/json"
	"html"
	"strings"
	"testing"

	"capcli/scenarios/paper"
	"capcli/scenarios/paper/figure"
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
