package forecast

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"capcli"
	"capcli/forecast/model"
)

// demandStart is a past and what came after it.
type demandStart struct{ past, came []float64 }

// demandSet is what is asked of services and clusters: few series, many starts.
type demandSet struct {
	name    string
	seasons []int
	period  int
	until   []int    // last steps of the horizons told apart
	ahead   []string // what people call them
	list    []demandStart
}

// column reads one column of a file of shared/data/series; cells that are no
// number take the value before.
func column(t *testing.T, name, head string) []float64 {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "shared", "data", "series", filepath.FromSlash(name)))
	if err != nil {
		t.Skip("no series here: ", err)
	}
	defer func() { _ = f.Close() }()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for i, cell := range rows[0] {
		if cell == head {
			at = i
		}
	}
	var out []float64
	for _, row := range rows[1:] {
		if v, err := strconv.ParseFloat(row[at], 64); err == nil {
			out = append(out, v)
		} else if len(out) > 0 {
			out = append(out, out[len(out)-1])
		}
	}
	return out
}

// rolled cuts a series at least and every so many values after it.
func rolled(y []float64, least, every, h int) []demandStart {
	var out []demandStart
	for at := least; at+h <= len(y); at += every {
		out = append(out, demandStart{y[:at:at], y[at : at+h]})
	}
	return out
}

func demandSets(t *testing.T) []demandSet {
	t.Helper()
	azure := demandSet{name: "LLM requests, 10 s", period: 1, until: []int{1, 6, 30}, ahead: []string{"10 s", "1 min", "5 min"}}
	for _, name := range []string{"code", "conv"} {
		azure.list = append(azure.list, rolled(column(t, "llm-requests/azure_"+name+"_10s.csv", "requests"), 120, 10, 30)...)
	}
	minutes := demandSet{name: "image requests, 1 min", period: 1, until: []int{1, 15, 60}, ahead: []string{"1 min", "15 min", "1 h"}}
	for _, name := range []string{"API Requests", "Generative Requests"} {
		minutes.list = append(minutes.list, rolled(column(t, "gpu-demand/alibaba_genai_qps_1min.csv.gz", name), 300, 30, 60)...)
	}
	hours := demandSet{name: "image requests, 1 h", seasons: []int{24, 168}, period: 24, until: []int{1, 6, 24}, ahead: []string{"1 h", "6 h", "24 h"}}
	for _, name := range []string{"requests", "gpu_seconds"} {
		hours.list = append(hours.list, rolled(column(t, "gpu-demand/alibaba_genai_lora_requests.csv.gz", name), 240, 12, 24)...)
	}
	gpus := demandSet{name: "GPU demand, 1 h", seasons: []int{24, 168}, period: 24, until: []int{1, 6, 24, 48}, ahead: []string{"1 h", "6 h", "24 h", "48 h"}}
	train, test := table(t, "gpu-demand/bench-train"), table(t, "gpu-demand/bench-test")
	for i := range train {
		gpus.list = append(gpus.list, demandStart{train[i], test[i]})
	}
	return []demandSet{azure, minutes, hours, gpus}
}

// TestDemandAccuracy prints, of each demand set and horizon, each model's mean
// absolute error over that of naive, and what the ranges of auto held.
// CAPCLI_ACCURACY=1 runs it.
func TestDemandAccuracy(t *testing.T) {
	if os.Getenv("CAPCLI_ACCURACY") == "" {
		t.Skip("CAPCLI_ACCURACY is not set")
	}
	models := []string{"naive", "snaive", "ets", "arima", "mstl-ets", "auto"}
	fmt.Printf("| set | starts | ahead | %s | auto in 80 %% | in 95 %% |\n", strings.Join(models[1:], " | "))
	fmt.Println("|---|---|---|" + strings.Repeat("---|", len(models)+1))
	for _, s := range demandSets(t) {
		h := s.until[len(s.until)-1]
		errors := map[string][]float64{}
		var inside [2][]float64
		for _, name := range models {
			var all []model.Forecast
			all, errors[name] = s.run(t, name, h)
			if name == "auto" {
				for k := range inside {
					inside[k] = s.shareInside(all, k)
				}
			}
		}
		for k, until := range s.until {
			fmt.Printf("| %s | %d | %s |", s.name, len(s.list), s.ahead[k])
			for _, name := range models[1:] {
				fmt.Printf(" %.3f |", model.Mean(errors[name][:until])/model.Mean(errors["naive"][:until]))
			}
			fmt.Printf(" %.3f | %.3f |\n", model.Mean(inside[0][:until]), model.Mean(inside[1][:until]))
		}
	}
}

// run gives the forecasts from each start, and the mean scaled error of each step.
func (s demandSet) run(t *testing.T, name string, h int) ([]model.Forecast, []float64) {
	t.Helper()
	out := make([]model.Forecast, len(s.list))
	var wg sync.WaitGroup
	for i, one := range s.list {
		wg.Go(func() {
			y := capcli.Series{Name: "y", Step: 60, Values: one.past}
			model, err := Shipped(name, y, h, Options{Seasons: s.seasons, Seed: 1})
			if err != nil {
				t.Error(err)
				return
			}
			fit, err := model.Fit(y)
			if err == nil {
				out[i], err = fit.Forecast(h, 80, 95)
			}
			if err != nil {
				t.Errorf("%s, start %d, %s: %v", s.name, i, name, err)
			}
		})
	}
	wg.Wait()
	errors := make([]float64, h)
	for k := range errors {
		var step []float64
		for i, one := range s.list {
			if e := mase(one.came[k:k+1], out[i].Mean[k:k+1], scale(one.past, s.period)); model.IsFinite(e) {
				step = append(step, e)
			}
		}
		errors[k] = model.Mean(step)
	}
	return out, errors
}

// shareInside is the share of what came within interval k, by step.
func (s demandSet) shareInside(all []model.Forecast, k int) []float64 {
	out := make([]float64, len(all[0].Mean))
	for step := range out {
		for i, one := range s.list {
			iv := all[i].Intervals[k]
			if one.came[step] >= iv.Lo[step] && one.came[step] <= iv.Hi[step] {
				out[step] += 1 / float64(len(s.list))
			}
		}
	}
	return out
}
