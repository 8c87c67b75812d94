package panel

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"capcli/cmd/panel/engine"
	"capcli/cmd/report/page"
	"capcli/profile/trace"
	"capcli/scenarios/live"
	"capcli/scenarios/paper"
	"capcli/scenarios/play"
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
	if name := os.Getenv("CAPCLI_PAGE"); name != "" {
		real, err := engine.Load()
		if err != nil {
			t.Fatal(err)
		}
		x, err := inFile(t.Context(), newWorld(t, &play.Question{Scenario: os.Getenv("CAPCLI_SCENARIO")}, live.MaxJobs), real)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(writePage(t, x)), 0o600); err != nil {
			t.Fatal(err)
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
