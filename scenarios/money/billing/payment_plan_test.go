package billing_test

import (
	"math"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
)

const (
	oneYear    = 365 * capcli.Day
	threeYears = 3 * oneYear
)

// digits holds a figure to the last digit that was printed.
func digits(t *testing.T, what string, got, want, digit float64) {
	t.Helper()
	if math.Abs(got-want) > digit/2*1.000001 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func planPaid(t *testing.T, rate string, term capcli.Seconds, months int, upfront int64) billing.Payment {
	t.Helper()
	p, err := billing.NewPayment(usd(t, rate), term, months, upfront)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestBreakEven holds AWS's x2iedn.32xlarge in af-south-1 and Google's
// a3-highgpu-8g in us-central1: break-even utilisation, and months to recover.
func TestBreakEven(t *testing.T) {
	for _, tt := range []struct {
		onDemand, rate  string
		term            capcli.Seconds
		months          int
		upfront         int64
		share, recovers float64
	}{
		{"38.096", "23.44047", oneYear, 12, 0, .615300, 7.384},
		{"38.096", "22.32423", oneYear, 12, 500_000, .585999, 7.032},
		{"38.096", "21.87774", oneYear, 12, 1_000_000, .574279, 6.891},
		{"38.096", "12.21967", threeYears, 36, 0, .320760, 11.547},
		{"38.096", "11.314528", threeYears, 36, 500_000, .297000, 10.692},
		{"38.096", "10.635654", threeYears, 36, 1_000_000, .279180, 10.050},
		{"88.49", "61.3837", oneYear, 12, 0, .6936795, 8.324},
		{"88.49", "38.8644", threeYears, 36, 0, .4391954, 15.811},
	} {
		p := planPaid(t, tt.rate, tt.term, tt.months, tt.upfront)
		digits(t, tt.rate+" break-even", p.BreakEven(usd(t, tt.onDemand)), tt.share, 1e-6)
		digits(t, tt.rate+" recovers", p.Recover(usd(t, tt.onDemand)), tt.recovers, 1e-3)
	}
}

// TestPresentValue holds three ways to pay for a year, at three costs of
// capital; at 20 % the order turns.
func TestPresentValue(t *testing.T) {
	ways := []struct {
		rate    string
		upfront int64
		want    [3]float64
	}{
		{".63", 0, [3]float64{5518.80, 5284.89, 5083.35}},
		{".60", 500_000, [3]float64{5256.00, 5144.62, 5048.65}},
		{".58", 1_000_000, [3]float64{5080.80, 5080.80, 5080.80}},
	}
	for _, w := range ways {
		p := planPaid(t, w.rate, oneYear, 12, w.upfront)
		for i, d := range []float64{0, .10, .20} {
			digits(t, w.rate, p.PresentValue(d), w.want[i], .01)
		}
	}
}

// TestPaymentsSum holds that the parts are the whole.
func TestPaymentsSum(t *testing.T) {
	for _, upfront := range []int64{0, 1, 333_333, 500_000, 999_999, 1_000_000} {
		p := planPaid(t, "0.777777", oneYear+1, 7, upfront)
		if want := capcli.Cost(usd(t, "0.777777"), capcli.GPUTime(oneYear+1)*capcli.GPUSecond); p.Total() != want {
			t.Errorf("%d upfront: the payments sum to %s, want %s", upfront, p.Total().Decimal(), want.Decimal())
		}
	}
	if _, err := billing.NewPayment(-1, oneYear, 12, 0); err == nil {
		t.Error("a rate under 0 is taken")
	}
}
