package roofline

import (
	"encoding/csv"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"capcli"
)

// wholeServer is a row of the measurements of whole servers.
type wholeServer struct {
	Measurement
	id, engine, gpu, model, weights string
	tp                              int64
}

func (w *wholeServer) group() string { return fmt.Sprintf("%s %s tp%d", w.engine, w.gpu, w.tp) }

func readServers(t testing.TB) []wholeServer {
	t.Helper()
	rows, err := csv.NewReader(open(t, "data/llm-serving/e2e.csv.gz")).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []wholeServer
	for _, r := range rows[1:] {
		get := func(name string) string { return r[slices.Index(rows[0], name)] }
		number := func(name string) float64 { v, _ := strconv.ParseFloat(get(name), 64); return v }
		w := wholeServer{id: get("id"), engine: get("backend"), gpu: get("system"), weights: "bf16", tp: int64(number("tp_size"))}
		for _, name := range measuredModels {
			if strings.Contains(strings.ToLower(get("model_path")), name) {
				w.model = name
			}
		}
		if get("precision") == "fp8" {
			w.weights = "fp8"
		}
		w.Measurement = Measurement{int64(number("batch_size")), int64(number("isl")), int64(number("osl")), number("tpot_ms"), number("ttft_ms")}
		if w.model == "" || !slices.Contains(GPUs.Names(), w.gpu) || get("mode") != "agg" || get("precision") == "fp4" || get("batch_size") != get("concurrency") || w.Batch == 0 {
			continue
		}
		out = append(out, w)
	}
	return out
}

func (w *wholeServer) server(t testing.TB, all map[string]*Measured) *Server {
	t.Helper()
	m, err := FindModel(w.model)
	if err != nil {
		t.Fatal(err)
	}
	r := Defaults
	r.Model, r.GPUs, r.Weights = m, w.tp, w.weights
	if r.GPU, err = FindGPU(w.gpu); err != nil {
		t.Fatal(err)
	}
	e, err := r.estimate(all)
	if err != nil {
		t.Fatal(err)
	}
	return &Server{e.Time, 8192, e.Memory.Tokens}
}

// TestServers predicts whole servers, without any fit and with a calibration for each engine, GPU and
// width, which sees three quarters of the rows: those whose hash of the id is not divisible by four.
func TestServers(t *testing.T) {
	groups := map[string][]wholeServer{}
	for _, w := range readServers(t) {
		key := w.model + " " + w.group()
		groups[key] = append(groups[key], w)
	}
	large := map[string][3][]float64{}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		rows := groups[key]
		s := rows[0].server(t, measured())
		var given []Measurement
		var kept []wholeServer
		for _, w := range rows {
			h := fnv.New32a()
			h.Write([]byte(w.id))
			if h.Sum32()%4 == 0 {
				kept = append(kept, w)
			} else {
				given = append(given, w.Measurement)
			}
		}
		if len(given) < 4 || len(kept) == 0 {
			continue
		}
		fit, err := s.Calibrate(given)
		if err != nil {
			t.Fatal(err)
		}
		after := &Server{fit.Time, s.Chunk, s.Room}
		var all, plain, calibrated []float64
		for i := range rows {
			all = append(all, math.Abs(s.TPOT(&rows[i].Measurement)/rows[i].TPOT-1))
		}
		for i := range kept {
			plain = append(plain, math.Abs(s.TPOT(&kept[i].Measurement)/kept[i].TPOT-1))
			calibrated = append(calibrated, math.Abs(after.TPOT(&kept[i].Measurement)/kept[i].TPOT-1))
		}
		t.Logf("%-34s %3d rows %5.1f %%; %2d kept back %5.1f %%, calibrated %5.1f %% (folds say %.1f) %s", key, len(rows), 100*accuracy(all).Mean, len(kept), 100*accuracy(plain).Mean, 100*accuracy(calibrated).Mean, 100*fit.After.Mean, fit.Calibration)
		name := rows[0].model
		if rows[0].gpu == "b200_sxm" {
			name += " b200"
		}
		l := large[name]
		l[0], l[1], l[2] = append(l[0], all...), append(l[1], plain...), append(l[2], calibrated...)
		large[name] = l
	}
	for _, name := range slices.Sorted(maps.Keys(large)) {
		t.Logf("%-20s all rows %5.1f %%, kept back %5.1f %%, calibrated %5.1f %%", name, 100*accuracy(large[name][0]).Mean, 100*accuracy(large[name][1]).Mean, 100*accuracy(large[name][2]).Mean)
	}
	seventy := large["llama-3.1-70b"]
	for i, most := range []capcli.Figure{0.15, 0.15, 0.06} {
		if got := accuracy(seventy[i]).Mean; !(got < most) {
			t.Errorf("70B on H100 and H200: mean error %.3f, want below %.2f", got, most)
		}
	}
}
