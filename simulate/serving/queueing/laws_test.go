package queueing

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"capcli"
)

// shared opens a file beside the checkout and skips the test where there is none.
func shared(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "golden", "inference", name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("no reference answers beside the checkout: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// far returns the relative distance of got from want.
func far(got, want float64) float64 {
	if got == want {
		return 0
	}
	return math.Abs(got-want) / math.Max(math.Abs(want), math.SmallestNonzeroFloat64)
}

func TestLawsGolden(t *testing.T) {
	var file struct {
		Exact []struct {
			Law         string
			Lam, ES, Mu float64
			K           int
			CA2, CS2    float64
			Value       float64
			Root        float64
			Response    float64
			InSystem    float64 `json:"in_system"`
		}
	}
	if err := json.Unmarshal(shared(t, "closed_forms.json"), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Exact) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Exact {
		var got float64
		var err error
		switch c.Law {
		case "M/D/1 mean wait":
			got, err = MD1Wait(c.Lam, c.ES)
		case "M/M/1-PS mean response = M/G/1-PS":
			got, err = PSResponse(c.Lam, c.ES)
		case "M/M/k mean wait (Erlang C)":
			got, err = MMkWait(c.Lam, c.ES, c.K)
		case "M/M/k probability of waiting":
			got, err = MMkWaiting(c.Lam, c.ES, c.K)
		case "M/G/k mean wait (Allen-Cunneen)", "G/G/k mean wait (Allen-Cunneen)":
			got, err = GGkWait(c.Lam, c.ES, c.K, c.CA2, c.CS2)
		case "M/G/1 mean wait (Pollaczek-Khinchine)":
			got, err = MG1Wait(c.Lam, c.ES, c.CS2)
		case "M/M[1,K]/1 partial batches":
			var b Bulk
			b, err = BulkService(c.Lam, c.Mu, c.K)
			if err != nil || far(b.Root, c.Root) > 1e-9 || far(b.InSystem, c.InSystem) > 1e-9 || far(b.Response, c.Response) > 1e-9 {
				t.Errorf("%s: %+v, want %+v", c.Law, b, c)
			}
			continue
		default:
			t.Errorf("unknown law %q", c.Law)
		}
		if err != nil || far(got, c.Value) > 1e-9 {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}

// The laws agree with each other where one is a special case of another.
func TestLawsAgree(t *testing.T) {
	for _, load := range []float64{1e-12, 0.1, 0.5, 0.9, 0.999999, 1 - 1e-12} {
		const es = 0.25
		lam := load / es
		one, err := MMkWait(lam, es, 1)
		if err != nil {
			t.Fatal(err)
		}
		pk, _ := MG1Wait(lam, es, 1)
		if far(one, pk) > 1e-3*load { // 1 - load itself has lost digits
			t.Errorf("load %v: M/M/1 waits %v as M/M/k and %v as M/G/1", load, one, pk)
		}
		b, err := BulkService(lam, 1/es, 1)
		ps, _ := PSResponse(lam, es)
		if err != nil || far(b.Response, ps) > 1e-3*load+1e-12 {
			t.Errorf("load %v: batches of one take %v, %v; M/M/1 takes %v", load, b.Response, err, ps)
		}
	}
	for _, k := range []int{1, 7, 1000, 20_000, 1_000_000} {
		for _, load := range []float64{1e-9, 0.3, 0.85, 0.999, 1 - 1e-9} {
			w, err := GGkWait(load*float64(k), 1, k, 1, 4)
			if err != nil || math.IsNaN(w) || math.IsInf(w, 0) || w < 0 {
				t.Errorf("k %d load %v: %v, %v", k, load, w, err)
			}
			b, err := BulkService(load*float64(k)*3, 3, k)
			sum := b.Root * -math.Expm1(float64(k)*math.Log(b.Root)) / (1 - b.Root)
			if err != nil || !(b.InSystem > 0) || math.IsInf(b.InSystem, 0) || load < 0.99 && far(sum, load*float64(k)) > 1e-6 {
				t.Errorf("K %d load %v: %+v, %v; the sum of powers is %v", k, load, b, err, sum)
			}
		}
	}
}

func TestLawsRefuse(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		field string
		err   error
	}{
		"rate 0":          {"lam", second(MD1Wait(0, 1))},
		"rate NaN":        {"lam", second(MD1Wait(nan, 1))},
		"load 1":          {"lam", second(MD1Wait(2, 0.5))},
		"service below 0": {"es", second(PSResponse(1, -1))},
		"infinite":        {"es", second(PSResponse(1, math.Inf(1)))},
		"variation":       {"cs2", second(MG1Wait(1, 0.1, -1))},
		"no servers":      {"k", second(MMkWait(1, 0.1, 0))},
		"too many":        {"k", second(MMkWaiting(1, 0.1, maxServers+1))},
		"arrivals":        {"ca2", second(GGkWait(1, 0.1, 2, nan, 1))},
		"mu":              {"mu", second(BulkService(1, 0, 4))},
		"batch":           {"K", second(BulkService(1, 1, 0))},
		"bulk load":       {"lam", second(BulkService(4, 1, 4))},
	} {
		var r *capcli.RequestError
		if !errors.As(c.err, &r) || r.Field != c.field {
			t.Errorf("%s: %v, want a fault of %s", name, c.err, c.field)
		}
	}
}

func second[T any](_ T, err error) error { return err }
