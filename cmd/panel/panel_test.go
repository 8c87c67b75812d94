package panel

import (
	"bytes"
	"io"
	"io/fs"
	"strings"
	"testing"

	"capcli"
	"capcli/cmd/panel/engine"
	"capcli/cmd/report/page"
	"capcli/cmd/report/paper"
	"capcli/profile/logs/trace"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/live"
	"capcli/scenarios/play"
	"capcli/scenarios/vary"
)

// noFiles opens nothing.
func noFiles(name string) (trace.Input, io.Closer, error) {
	return trace.Input{}, nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// newWorld returns the world of a question, with at most most jobs.
func newWorld(t *testing.T, q *play.Question, most int) *live.World {
	t.Helper()
	maker := &play.Maker{Logs: &play.Logs{Open: noFiles}}
	c, err := maker.Case(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	w, err := live.NewWorld(t.Context(), c, q, most)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// writePage returns a page with one section.
func writePage(t *testing.T, x page.Extra) string {
	t.Helper()
	var b bytes.Buffer
	p := &paper.Paper{Schema: paper.Schema, Title: "a page", Answer: paper.Answer{Sentence: "An answer."}}
	if err := page.Write(&b, p, page.Options{Extras: []page.Extra{x}}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSectionOfAFile(t *testing.T) {
	files := &engine.Files{WASM: []byte("engine"), Exec: "go()"}
	w := newWorld(t, &play.Question{Scenario: "default", Sets: []string{"capacity.base.name=</script><script>alert(1)"}}, live.MaxJobs)
	x, err := inFile(t.Context(), w, files)
	if err != nil {
		t.Fatal(err)
	}
	text := writePage(t, x)
	if again := writePage(t, x); again != text {
		t.Error("the same page has other bytes")
	}
	for _, want := range []string{"&#39;wasm-unsafe-eval&#39;", "worker-src blob:", `data-path="overflow.patience"`, `data-value="40"`, "capcli simulate default --set", "cost a year"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, bad := range []string{"<script>alert", "connect-src", "unsafe-inline", "&#39;unsafe-eval"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}

func TestSectionOfTheServer(t *testing.T) {
	e, err := newWorld(t, &play.Question{Scenario: "default"}, live.MaxJobs).Engine()
	if err != nil {
		t.Fatal(err)
	}
	x, err := Served(t.Context(), e, "runs/<b>")
	if err != nil {
		t.Fatal(err)
	}
	text := writePage(t, x)
	if !strings.Contains(text, "connect-src &#39;self&#39;") || strings.Contains(text, "wasm-unsafe-eval") || strings.Contains(text, "runs/<b>") {
		t.Error("the page of the server is not as it must be")
	}
}

// A page of a decision has its figures, its limits in words, what takes a change back, and no network.
func TestSectionOfADecision(t *testing.T) {
	m := &plan.Meter{Step: capcli.Hour, Milli: [][]int32{{1000, 3000}}}
	pack, err := vary.Pack(m)
	if err != nil {
		t.Fatal(err)
	}
	w := &vary.World{
		Schema: vary.Schema, Step: m.Step, Steps: 2, Count: 1, Demand: pack, Lot: 1000, Terms: []vary.Term{{Name: "1y", Months: 12, Rate: 1_000_000}},
		Bought: []vary.Purchase{{To: 2 * capcli.Hour, Milli: 1000, Rate: 1_000_000}}, OnDemand: vary.Price{Rate: 4_000_000}, Limits: []string{"cost <= $9"}, Hold: 1,
	}
	x, err := ofWorld(w, &engine.Files{WASM: []byte("engine"), Exec: "go()"})
	if err != nil {
		t.Fatal(err)
	}
	text := writePage(t, x)
	for _, want := range []string{`data-path="commitment.gpus" data-value="1"`, "$10.00", "cost &lt;= $9: DOES NOT HOLD: only in 0 of 1 futures", `id="live-back" disabled>Take back`, ">As decided</button>", "No spot price is listed", "worker-src blob:", "nobody waits"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, bad := range []string{"connect-src", "live-command\"", "http://", "unsafe-inline"} {
		if strings.Contains(string(x.HTML), bad) || strings.Contains(bad, "-") && strings.Contains(text, "\""+bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}
