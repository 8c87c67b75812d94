package outcome

import (
	"math"
	"strings"
	"testing"

	"capcli"
)

func TestParseCheck(t *testing.T) {
	for _, x := range []struct {
		text, metric, op string
		value            float64
	}{
		{"wait_p95<=30m", "wait_p95", "<=", 1800},
		{"wait_p95_s > 90", "wait_p95", ">", 90},
		{"wait_mean<1.5s", "wait_mean", "<", 1.5},
		{"wait_mean_s<1.5", "wait_mean", "<", 1.5},
		{"wait_p95>0", "wait_p95", ">", 0},
		{"stranded_usd<=50", "stranded_usd", "<=", 50},
		{"cost<=20 USD", "cost", "<=", 20},
		{"cost<=$1.7M", "cost", "<=", 1_700_000},
		{"cost <= 1,695,168.00", "cost", "<=", 1_695_168},
		{"total_usd>=85k", "total", ">=", 85_000},
		{"allocation_rate<93%", "allocation_rate", "<", 0.93},
		{"effective_savings_rate<-0.5", "effective_savings_rate", "<", -0.5},
		{"unplaceable!=0", "unplaceable", "!=", 0},
		{"waiting=0", "waiting", "==", 0},
		{"stranded_gpu_hours>12k", "stranded_gpu_hours", ">", 12_000},
		{"makespan<=45d", "makespan", "<=", 45 * 86400},
	} {
		c, err := ParseCheck(x.text)
		if err != nil || c.Metric.Name != x.metric || c.Op != x.op || math.Abs(c.Value-x.value) > 1e-6 {
			t.Errorf("%s: got %s %s %v, %v; want %s %s %v", x.text, c.Metric.Name, c.Op, c.Value, err, x.metric, x.op, x.value)
		}
	}
	for _, x := range []struct{ text, want string }{
		{"wait_p59<=30m", `did you mean "wait_p50"?`},
		{"karma<3", "have wait_mean, wait_p50"},
		{"wait_p95", "is no condition"},
		{"wait_p95!30m", "is no condition"},
		{"wait_p95<=", "no length of time"},
		{"cost<=NaN", "no amount"},
		{"cost<=-3", "no amount"},
		{"cost<=1,70", "no amount"},
		{"allocation_rate<93", "no share"},
		{"waiting<many", "no number"},
		{"wait_p95>30", "30s for seconds or 30m for minutes"},
		{"wait_mean<1.5", "1.5s for seconds or 90s for minutes"},
		{"cost<=20", "$20, or 20k for thousands"},
		{"stranded<0.5", "$0.5, or 0.5k"},
	} {
		if _, err := ParseCheck(x.text); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want …%s…", x.text, err, x.want)
		}
	}
}

func TestHolds(t *testing.T) {
	wait := capcli.Seconds(1800)
	o := &Outcome{Waits: Waits{Started: 1, WaitP95: &wait}, BoundedSlowdown: math.NaN()}
	for _, x := range []struct {
		text         string
		holds, known bool
	}{
		{"wait_p95<=30m", true, true},
		{"wait_p95<30m", false, true},
		{"wait_p95>=30m", true, true},
		{"wait_p95>30m", false, true},
		{"wait_p95==30m", true, true},
		{"wait_p95!=30m", false, true},
		{"bounded_slowdown_mean<=1", false, false},
		{"cost<=$1", false, false},
		{"wait_p99<=1s", false, false},
	} {
		c, err := ParseCheck(x.text)
		if err != nil {
			t.Fatal(err)
		}
		if holds, known := c.Holds(o); holds != x.holds || known != x.known {
			t.Errorf("%s: got %v, %v; want %v, %v", x.text, holds, known, x.holds, x.known)
		}
	}
}

// FuzzParseCheck: what is read says itself in a way that reads the same.
func FuzzParseCheck(f *testing.F) {
	for _, s := range []string{"wait_p95<=30m", "cost>$1.7M", "allocation_rate<93%", "waiting=0", "total_usd != 1,000", "wait_mean_s<1.5", "cost_usd<7", "x", "<", "cost<=1e400", "cost<=1e308B"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCheck(text)
		if err != nil {
			return
		}
		if math.IsNaN(c.Value) || math.IsInf(c.Value, 0) {
			t.Errorf("%q: value %v", text, c.Value)
		}
		again, err := ParseCheck(c.String())
		if err != nil || again.Value != c.Value || again.Op != c.Op || again.Metric != c.Metric {
			t.Errorf("%q says itself as %q, which reads %+v, %v", text, c, again, err)
		}
	})
}

// A figure that is at least so much may settle a condition, and may not.
func TestCheckHoldsFromBelow(t *testing.T) {
	for _, c := range []struct {
		check        string
		least        float64
		holds, known bool
	}{
		{"wait_p95<=1h", 3601, false, true},
		{"wait_p95<=1h", 3600, false, false},
		{"wait_p95<=1h", 0, false, false},
		{"wait_p95<1h", 3600, false, true},
		{"wait_p95>1h", 3601, true, true},
		{"wait_p95>1h", 3600, false, false},
		{"wait_p95>=1h", 3600, true, true},
		{"wait_p95==1h", 3601, false, true},
		{"wait_p95!=1h", 3601, true, true},
		{"wait_p95!=1h", 3600, false, false},
	} {
		k, err := ParseCheck(c.check)
		if err != nil {
			t.Fatal(err)
		}
		least := capcli.Seconds(c.least)
		o := &Outcome{Waits: Waits{NeverStarted: 1, WaitP95From: &least}}
		if holds, known := k.Holds(o); holds != c.holds || known != c.known {
			t.Errorf("%s of at least %g: %v, %v; want %v, %v", c.check, c.least, holds, known, c.holds, c.known)
		}
	}
}
