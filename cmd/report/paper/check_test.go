package paper_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"capcli/cmd/report/paper"
	"capcli/profile/logs/trace"
)

// openTestdata opens a file of testdata.
func openTestdata(name string) (trace.Input, io.Closer, error) {
	text, err := os.ReadFile(filepath.Join("testdata", filepath.Base(name)))
	return trace.Input{Name: name, R: bytes.NewReader(text)}, io.NopCloser(nil), err
}

// TestCheck: a paper is made again byte by byte; another number in it, and another file below it, are
// found.
func TestCheck(t *testing.T) {
	p := makePaper(t, "mix", "run-week")
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	c, err := paper.Check(openTestdata, "paper.json", text, "test")
	if err != nil || !c.Same || len(c.Inputs) != 2 || len(c.Differs) != 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, tt := range []struct {
		change func(p *paper.Paper)
		want   string
	}{
		{func(p *paper.Paper) { p.Answer.Sentence += " Buy more." }, "the answer"},
		{func(p *paper.Paper) { p.Figures[0].Series[0].Y[3]++ }, "the figure cost-by-reserved"},
		{func(p *paper.Paper) { p.Tables[0].Rows[0][2] = "0" }, "the tables"},
		{func(p *paper.Paper) { p.Figures = p.Figures[:3] }, "the figure stranded is new"},
		{func(p *paper.Paper) { p.Notes = p.Notes[1:] }, "the notes"},
		{func(p *paper.Paper) { p.Warnings = append(p.Warnings, "x") }, "the warnings"},
		{func(p *paper.Paper) { p.Seed++ }, "the seed"},
	} {
		other := makePaper(t, "mix", "run-week")
		tt.change(other)
		text, err := json.Marshal(other)
		if err != nil {
			t.Fatal(err)
		}
		c, err := paper.Check(openTestdata, "paper.json", text, "test")
		if err != nil || c.Same || !slices.Contains(c.Differs, tt.want) {
			t.Errorf("want %q: %+v, %v", tt.want, c, err)
		}
	}
	c, err = paper.Check(openTestdata, "paper.json", bytes.Replace(text, []byte(p.Inputs[0].SHA256), []byte("00"), 1), "test")
	if err != nil || c.Same || c.Inputs[0].State != "changed" {
		t.Errorf("a changed file: %+v, %v", c, err)
	}
	c, err = paper.Check(openTestdata, "paper.json", bytes.Replace(text, []byte(`"mix.json"`), []byte(`"gone.json"`), 1), "test")
	if err != nil || c.Same || c.Inputs[0].State != "gone" {
		t.Errorf("a file that is gone: %+v, %v", c, err)
	}
	if _, err := paper.Check(openTestdata, "x", []byte(`{"schema": "capcli/bill/v1"}`), "test"); err == nil {
		t.Error("a bill is checked as a paper")
	}
}
