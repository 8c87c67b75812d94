package measured

import (
	"math"
	"strings"
	"testing"
)

const sample = `{"schema": "capcli/profile_summary/v1", "jobs": [
	{"job_id": "1", "tenant": "vision", "gpus": 2, "held_gpu_hours": 10, "starved_s": 14400, "tensor_active_pct_mean": 20},
	{"job_id": "2", "tenant": "vision", "gpus": 1, "held_gpu_hours": 30, "starved_s": 0, "tensor_active_pct_mean": 60},
	{"job_id": "3", "tenant": "nlp", "gpus": 1, "held_gpu_hours": 5, "starved_s": null, "tensor_active_pct_mean": null}],
	"total": {"held_gpu_hours": 45, "starved_s": 14400, "tensor_active_pct_mean": 45}}`

func TestSelect(t *testing.T) {
	s, err := Read("summary.json", strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		tenants, ids    []string
		starved, tensor float64 // -1 is not known
	}{
		{nil, nil, 4.0 / 45, 0.45},
		{[]string{"vision"}, nil, 0.1, 0.5}, // 4 of 40 hours; 10 hours at 20 %, 30 at 60 %
		{nil, []string{"1"}, 0.4, 0.2},
		{[]string{"nlp"}, nil, -1, -1},
	}
	for _, tt := range tests {
		u, err := s.Select(tt.tenants, tt.ids)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{tt.starved, tt.tensor} {
			got, ok := u.StarvedShare()
			if i == 1 {
				got, ok = u.TensorShare()
			}
			if ok != (want >= 0) || ok && math.Abs(got-want) > 1e-12 {
				t.Errorf("%v %v: figure %d is %g (%v), want %g", tt.tenants, tt.ids, i, got, ok, want)
			}
		}
	}
	if _, err := s.Select([]string{"nobody"}, nil); err == nil || !strings.Contains(err.Error(), "found none among 3") {
		t.Errorf("a tenant that is not there: %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, bad := range []string{
		"", "[]", `{"schema": "capcli/simulate/v1"}`,
		`{"schema": "capcli/profile_summary/v1", "total": {"held_gpu_hours": -1}}`,
		`{"schema": "capcli/profile_summary/v1", "total": {"held_gpu_hours": 1, "starved_s": 7200}}`,
		`{"schema": "capcli/profile_summary/v1", "jobs": [{"job_id": "1", "tensor_active_pct_mean": 101}]}`,
	} {
		if _, err := Read("x.json", strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "x.json") {
			t.Errorf("%s: %v, want a fault of x.json", bad, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(`{"schema": "capcli/profile_summary/v1", "jobs": [null]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Read("x", strings.NewReader(string(b)))
		if err != nil {
			return
		}
		for i := range s.Jobs {
			u, err := s.Select(nil, []string{s.Jobs[i].ID})
			if err != nil {
				continue
			}
			if v, ok := u.StarvedShare(); ok && !(v >= 0 && v <= 1) {
				t.Fatalf("starved share %g", v)
			}
			if v, ok := u.TensorShare(); ok && !(v > 0 && v <= 1) {
				t.Fatalf("tensor share %g", v)
			}
		}
	})
}
