package serving_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"capcli/simulate/serving"
)

// reference is the folder of the reference answers, which are not part of the project.
const reference = "../../../shared/golden/inference"

// config is a configuration as the reference writes it.
type config struct {
	Policy    string       `json:"policy"`
	Time      serving.Time `json:"time"`
	BlockSize int64        `json:"block_size"`
	Blocks    int64        `json:"blocks"`
	Watermark int64        `json:"watermark"`
	MaxTokens int64        `json:"max_tokens"`
	MaxSeqs   int64        `json:"max_seqs"`
	MaxLen    int64        `json:"max_len"`
	Router    string       `json:"router"`
	Replicas  []struct {
		Ready       int64
		Drain, Down *int64
	} `json:"replicas"`
	GPUs  int64       `json:"gpus"`
	Price float64     `json:"price"`
	Cold  int64       `json:"cold"`
	SLO   serving.SLO `json:"slo"`
}

func (c config) read() *serving.Config {
	out := &serving.Config{
		Policy: c.Policy, Time: c.Time, BlockSize: c.BlockSize, Blocks: c.Blocks, Watermark: c.Watermark, MaxTokens: c.MaxTokens,
		MaxSeqs: c.MaxSeqs, MaxLen: c.MaxLen, Router: c.Router, GPUs: c.GPUs, Price: c.Price, Cold: c.Cold, SLO: c.SLO,
	}
	or := func(p *int64) int64 {
		if p == nil {
			return -1
		}
		return *p
	}
	for _, r := range c.Replicas {
		out.Replicas = append(out.Replicas, serving.Replica{Ready: r.Ready, Drain: or(r.Drain), Down: or(r.Down)})
	}
	return out
}

func open(t testing.TB, name string) io.Reader {
	t.Helper()
	f, err := os.Open(filepath.Join(reference, name))
	if err != nil {
		t.Skipf("no reference answers here: %v", err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if !strings.HasSuffix(name, ".gz") {
		return f
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func decode(t testing.TB, name string, v any) {
	t.Helper()
	if err := json.NewDecoder(open(t, name)).Decode(v); err != nil {
		t.Fatal(name, err)
	}
}

// cells returns a row of the reference's table of requests.
func cells(w *serving.Served, id int) []string {
	or := func(v int64) string {
		if v < 0 {
			return ""
		}
		return strconv.FormatInt(v, 10)
	}
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	return []string{n(int64(id)), n(w.Arrival), n(w.In), n(w.Out), n(w.Cached), or(w.Admitted), or(w.FirstToken), or(w.Finish), n(w.Preemptions), n(w.Moves), or(int64(w.Replica)), w.Status.String()}
}

// request returns the request of a row.
func request(t testing.TB, row []string) serving.Request {
	t.Helper()
	var v [4]int64
	for i := range v {
		x, err := strconv.ParseInt(row[i+1], 10, 64)
		if err != nil {
			t.Fatal(row, err)
		}
		v[i] = x
	}
	return serving.Request{Arrival: v[0], In: v[1], Out: v[2], Cached: v[3]}
}

func checkServed(t *testing.T, name string, got []serving.Served, want [][]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d requests, want %d", name, len(got), len(want))
	}
	for id := range got {
		if c := cells(&got[id], id); strings.Join(c, ",") != strings.Join(want[id], ",") {
			t.Fatalf("%s: got\n%s want\n%s", name, strings.Join(c, ","), strings.Join(want[id], ","))
		}
	}
}

// checkSummary compares the figures that the reference has, integers exactly and others to 1e-9.
func checkSummary(t *testing.T, name string, got serving.Summary, want map[string]*float64) {
	t.Helper()
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]*float64{}
	if err := json.Unmarshal(text, &have); err != nil {
		t.Fatal(err)
	}
	for key, w := range want {
		g, ok := have[key]
		switch {
		case !ok:
			t.Errorf("%s: no %s", name, key)
		case (g == nil) != (w == nil):
			t.Errorf("%s: %s is %v, want %v", name, key, g, w)
		case g != nil && math.Abs(*g-*w) > 1e-9*math.Abs(*w):
			t.Errorf("%s: %s is %v, want %v", name, key, *g, *w)
		}
	}
}

func names(t testing.TB) []string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(reference, "serve", "*.csv.gz"))
	if len(files) == 0 {
		t.Skip("no reference answers here")
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".csv.gz")
	}
	return files
}

type serveCase struct {
	Config  config
	Summary map[string]*float64
	rows    [][]string
}

func readCase(t testing.TB, name string) serveCase {
	t.Helper()
	var c serveCase
	decode(t, "serve/"+name+".json", &c)
	lines := bufio.NewScanner(open(t, "serve/"+name+".csv.gz"))
	lines.Scan()
	for lines.Scan() {
		c.rows = append(c.rows, strings.Split(lines.Text(), ","))
	}
	return c
}

func (c *serveCase) requests(t testing.TB) []serving.Request {
	var out []serving.Request
	for _, row := range c.rows {
		out = append(out, request(t, row))
	}
	return out
}

// TestReference plays each case of the reference: every integer of every request, and the summary.
func TestReference(t *testing.T) {
	for _, name := range names(t) {
		c := readCase(t, name)
		r, err := serving.Replay(t.Context(), c.Config.read(), c.requests(t))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkServed(t, name, r.Served, c.rows)
		checkSummary(t, name, r.Summary, c.Summary)
	}
}

type randomCase struct {
	Name   string
	Config config
	Rows   [][]any
}

func (c *randomCase) table(t testing.TB) (rows [][]string, requests []serving.Request) {
	for _, r := range c.Rows {
		var row []string
		for _, v := range r {
			switch v := v.(type) {
			case nil:
				row = append(row, "")
			case float64:
				row = append(row, strconv.FormatInt(int64(v), 10))
			case string:
				row = append(row, v)
			}
		}
		rows, requests = append(rows, row), append(requests, request(t, row))
	}
	return rows, requests
}

func randomCases(t testing.TB) []randomCase {
	t.Helper()
	var all struct{ Cases []randomCase }
	decode(t, "serve/random.json.gz", &all)
	return all.Cases
}

// TestReferenceRandom plays the random cases of the reference.
func TestReferenceRandom(t *testing.T) {
	for _, c := range randomCases(t) {
		rows, requests := c.table(t)
		r, err := serving.Replay(t.Context(), c.Config.read(), requests)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		checkServed(t, c.Name, r.Served, rows)
	}
}
