package roofline

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"capcli/simulate/serving"
	"capcli/testdata/golden"
)

var update = flag.Bool("update", false, "rewrite measured.json from the tables of operations")

const shared = "../../../../shared/"

// open opens a shared file, compressed or not. It skips the test where the file is absent.
func open(t testing.TB, name string) io.Reader {
	t.Helper()
	f, err := os.Open(shared + name)
	if err != nil {
		t.Skipf("%s is absent", name)
	}
	t.Cleanup(func() { f.Close() })
	if !strings.HasSuffix(name, ".gz") {
		return f
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func readTables(t testing.TB) map[string]*Tables {
	t.Helper()
	table := func(name string) Source {
		name = "data/llm-serving/" + name
		return Source{File: filepath.Base(name), Text: open(t, name)}
	}
	all, err := ReadTables(Sources{table("ops_gemm.csv.gz"), table("ops_context_attention.csv.gz"), table("ops_generation_attention.csv.gz"), table("ops_allreduce.csv")}, "vllm_graph")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// measuredModels are the models whose times are fitted to the tables themselves.
var measuredModels = []string{"llama-3.1-8b", "llama-3.1-70b", "qwen3-32b"}

// layouts are those of measuredModels that fit the memory of a GPU and whose operations are known.
func layouts(t testing.TB, tables *Tables) []Layout {
	t.Helper()
	gpu, err := FindGPU(tables.GPU)
	if err != nil {
		t.Fatal(err)
	}
	var out []Layout
	for _, name := range measuredModels {
		m, err := FindModel(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, tp := range []int64{1, 2, 4, 8} {
			for _, w := range []string{"bfloat16", "fp8"} {
				l := Layout{m, tp, w, "bfloat16"}
				d := Demand{m, tp, precisions[w].bits, 16, gpu.Bytes, 900, Defaults.Reserve, 16}
				if tables.Knows(&l) && d.Memory().Fits {
					out = append(out, l)
				}
			}
		}
	}
	return out
}

func TestMeasured(t *testing.T) {
	golden.SkipLong(t)
	made := map[string]*Measured{}
	for gpu, tables := range readTables(t) {
		made[gpu] = Measure(tables, layouts(t, tables))
	}
	addServers(t, made)
	var text bytes.Buffer
	text.WriteString("{\n")
	for i, gpu := range slices.Sorted(maps.Keys(made)) {
		round(made[gpu])
		b, err := json.Marshal(made[gpu])
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			text.WriteString(",\n")
		}
		fmt.Fprintf(&text, "%q: %s", gpu, b)
	}
	text.WriteString("\n}\n")
	if *update {
		if err := os.WriteFile("measured.json", text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(text.Bytes(), measuredText) {
		t.Error("measured.json is not what the tables give: go test ./simulate/serving/roofline -run TestMeasured -update")
	}
}

// addServers says of each GPU and type of weights how far whole servers are off.
func addServers(t *testing.T, made map[string]*Measured) {
	t.Helper()
	for gpu, m := range made {
		m.Servers = map[string]Servers{}
		errors := map[string][]float64{}
		for _, w := range readServers(t) {
			if w.gpu == gpu {
				name := precisions[w.weights].name
				errors[name] = append(errors[name], math.Abs(w.server(t, made).TPOT(&w.Measurement)/w.TPOT-1))
			}
		}
		for name, e := range errors {
			m.Servers[name] = Servers{accuracy(e), len(e)}
		}
	}
}

// round keeps four digits of the errors.
func round(m *Measured) {
	four := func(e [4]float64) [4]float64 {
		for i := range e {
			e[i] = math.Round(e[i]*1e4) / 1e4
		}
		return e
	}
	for k, e := range m.Errors {
		m.Errors[k] = four(e)
	}
	for k, f := range m.Times {
		f.Errors = four(f.Errors)
		m.Times[k] = f
	}
}

// TestErrors holds the times that Estimate gives against the errors of the reference fit.
func TestErrors(t *testing.T) {
	var golden map[string]struct {
		Time serving.Time `json:"time"`
	}
	if err := json.NewDecoder(open(t, "golden/inference/models.json")).Decode(&golden); err != nil {
		t.Fatal(err)
	}
	all := readTables(t)
	var mine, theirs, composed [4]float64
	for _, key := range slices.Sorted(maps.Keys(golden)) {
		part := strings.Split(key, "/")
		m, err := FindModel(part[1])
		if err != nil {
			t.Fatal(err)
		}
		l := Layout{Model: m, Weights: part[3], Cache: "bfloat16"}
		if _, err := fmt.Sscanf(part[2], "tp%d", &l.GPUs); err != nil {
			t.Fatal(err)
		}
		g, err := FindGPU(part[0])
		if err != nil {
			t.Fatal(err)
		}
		r := Defaults
		r.Model, r.GPU, r.GPUs, r.Weights = m, g, l.GPUs, part[3]
		e, err := r.Estimate()
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		ref := golden[key].Time
		general := Compose(&l, measured()[g.Name].Operations)
		a, b, c := l.Judge(all[g.Name], &e.Time), l.Judge(all[g.Name], &ref), l.Judge(all[g.Name], &general)
		for i := range a {
			mine[i] += a[i] / float64(len(golden))
			theirs[i] += b[i] / float64(len(golden))
			composed[i] += c[i] / float64(len(golden))
		}
		t.Logf("%-36s %s   reference %s   composed %s", key, percents(a), percents(b), percents(c))
	}
	t.Logf("%-36s %s   reference %s   composed %s", "mean", percents(mine), percents(theirs), percents(composed))
	for i, what := range []string{"mean decode", "p90 decode", "mean prefill", "p90 prefill"} {
		if mine[i] > theirs[i] {
			t.Errorf("%s error %.4f, the reference fit has %.4f", what, mine[i], theirs[i])
		}
		if composed[i] > theirs[i]*1.05 {
			t.Errorf("%s error of composed times %.4f, the reference fit has %.4f", what, composed[i], theirs[i])
		}
	}
}

// TestUnknownShape holds the time of models whose attention and widths nobody measured: those of the
// tables without the shape of attention, the width of the feed-forward network and the hidden size of the
// model that is asked for.
func TestUnknownShape(t *testing.T) {
	var sum [4]float64
	n := 0.0
	all := readTables(t)
	for _, gpu := range slices.Sorted(maps.Keys(all)) {
		tables := all[gpu]
		for _, l := range layouts(t, tables) {
			if l.GPUs > 2 {
				continue
			}
			d := Describe(tables.removeShape(&l).Half())
			time := Compose(&l, d)
			e := l.Judge(tables, &time)
			t.Logf("%-10s %-30s %s", gpu, l.Key(), percents(e))
			for i := range e {
				sum[i] += e[i]
			}
			n++
		}
	}
	for i := range sum {
		sum[i] /= n
	}
	t.Logf("mean of %v: %s", n, percents(sum))
	if sum[0] > 0.08 || sum[2] > 0.06 {
		t.Errorf("mean errors %s, want at most 8 and 6 %%", percents(sum))
	}
}

// removeShape returns the tables without what was measured for the shape of l.
func (t *Tables) removeShape(l *Layout) *Tables {
	out := t.Half()
	*out = *t
	out.products, out.prefill, out.decode = map[string][]*plane{}, maps.Clone(t.prefill), maps.Clone(t.decode)
	for _, cache := range []string{"bfloat16", "fp8"} {
		a := l.attention()
		a.Cache = cache
		delete(out.prefill, a)
		delete(out.decode, a)
	}
	m := &l.Model
	widths := []float64{float64(m.Hidden), float64(2 * m.Intermediate / l.GPUs), float64(m.Intermediate / l.GPUs), float64((m.Heads + 2*m.KVHeads) * m.HeadDim / l.GPUs)}
	for w, planes := range t.products {
		for _, p := range planes {
			keep := plane{m: p.m, n: p.n, k: p.k}
			for i, n := range p.n {
				row := slices.Clone(p.us[i])
				for j, k := range p.k {
					if slices.Contains(widths, n) || slices.Contains(widths, k) {
						row[j] = 0
					}
				}
				keep.us = append(keep.us, row)
			}
			out.products[w] = append(out.products[w], &keep)
		}
	}
	return out
}

func percents(e [4]float64) string {
	return fmt.Sprintf("decode %4.1f/%4.1f %% prefill %4.1f/%4.1f %%", 100*e[0], 100*e[1], 100*e[2], 100*e[3])
}
