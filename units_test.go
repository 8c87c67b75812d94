package capcli

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseUSD(t *testing.T) {
	tests := []struct {
		text string
		want USD
		bad  bool
	}{
		{text: "2.10", want: 2_100_000},
		{text: "$2.1", want: 2_100_000},
		{text: " 3 ", want: 3_000_000},
		{text: ".5", want: 500_000},
		{text: "0", want: 0},
		{text: "0.000001", want: 1},
		{text: "1,695,168.00", want: 1_695_168_000_000},
		{text: "1,69,168", bad: true},
		{text: "1,6951", bad: true},
		{text: "3,90", bad: true},
		{text: "", bad: true},
		{text: "$", bad: true},
		{text: ".", bad: true},
		{text: "1.2.3", bad: true},
		{text: "0.0000001", bad: true},
		{text: "-1", bad: true},
		{text: "+1", bad: true},
		{text: "1.-2", bad: true},
		{text: "1e3", bad: true},
		{text: "NaN", bad: true},
		{text: "9223372036854.000000", bad: true},
		{text: "99999999999999999999", bad: true},
	}
	for _, tt := range tests {
		got, err := ParseUSD(tt.text)
		if (err != nil) != tt.bad {
			t.Errorf("ParseUSD(%q): error %v, want an error: %v", tt.text, err, tt.bad)
		} else if err == nil && got != tt.want {
			t.Errorf("ParseUSD(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
}

func TestUSDText(t *testing.T) {
	tests := []struct {
		u            USD
		text, places string
	}{
		{0, "$0.00", "0.00"},
		{1, "$0.00", "0.000001"},
		{4_999, "$0.00", "0.004999"},
		{5_000, "$0.01", "0.005"},
		{25_200_000, "$25.20", "25.20"},
		{1_695_168 * Dollar, "$1,695,168.00", "1695168.00"},
		{-115_629_123_456, "-$115,629.12", "-115629.123456"},
		{999_999_999, "$1,000.00", "999.999999"},
	}
	for _, tt := range tests {
		if got := tt.u.String(); got != tt.text {
			t.Errorf("USD(%d).String() = %q, want %q", tt.u, got, tt.text)
		}
		if got := tt.u.Decimal(); got != tt.places {
			t.Errorf("USD(%d).Decimal() = %q, want %q", tt.u, got, tt.places)
		}
	}
}

func TestUSDRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := USD(rapid.Int64Range(0, math.MaxInt64-2*int64(Dollar)).Draw(t, "u"))
		got, err := ParseUSD(u.Decimal())
		if err != nil || got != u {
			t.Fatalf("ParseUSD(%q) = %d, %v, want %d", u.Decimal(), got, err, u)
		}
	})
}

func TestSecondsText(t *testing.T) {
	tests := []struct {
		s    Seconds
		want string
	}{
		{0, "0 s"},
		{59, "59 s"},
		{60, "1 min"},
		{61, "1m01s"},
		{599, "9m59s"},
		{600, "10 min"},
		{22*Minute + 29, "22 min"},
		{22*Minute + 30, "23 min"},
		{94 * Minute, "1h34m"},
		{47*Hour + 59*Minute, "47h59m"},
		{48 * Hour, "2d00h"},
		{3*Day + 4*Hour, "3d04h"},
		{-90, "-1m30s"},
	}
	for _, tt := range tests {
		if got := tt.s.String(); got != tt.want {
			t.Errorf("Seconds(%d).String() = %q, want %q", tt.s, got, tt.want)
		}
	}
}

func TestParseSeconds(t *testing.T) {
	tests := []struct {
		text string
		want Seconds
		bad  bool
	}{
		{text: "90", want: 90},
		{text: "90s", want: 90},
		{text: "30m", want: 1800},
		{text: "1h30m", want: 5400},
		{text: "2d", want: 2 * Day},
		{text: "1w", want: 7 * Day},
		{text: "", bad: true},
		{text: "6mo", bad: true},
		{text: "h", bad: true},
		{text: "1.5h", bad: true},
		{text: "1h30", bad: true},
		{text: "99999999999999w", bad: true},
		{text: "9223372036854775807s9223372036854775807s", bad: true},
	}
	for _, tt := range tests {
		got, err := ParseSeconds(tt.text)
		if (err != nil) != tt.bad {
			t.Errorf("ParseSeconds(%q): error %v, want an error: %v", tt.text, err, tt.bad)
		} else if err == nil && got != tt.want {
			t.Errorf("ParseSeconds(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
}

// bigCost is rate times time in unbounded integers, rounded half up.
func bigCost(r Rate, g GPUTime) *big.Int {
	const perHour = 1000 * 3600
	n := new(big.Int).Mul(big.NewInt(int64(r)), big.NewInt(int64(g)))
	n.Add(n, big.NewInt(perHour/2))
	return n.Div(n, big.NewInt(perHour))
}

func TestCostEqualsBigIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rate(rapid.Int64Range(0, math.MaxInt64).Draw(t, "rate"))
		g := GPUTime(rapid.Int64Range(0, math.MaxInt64).Draw(t, "time"))
		want := bigCost(r, g)
		got, overflow := costOrOverflow(t, r, g)
		if overflow != !want.IsInt64() {
			t.Fatalf("Cost(%d, %d): overflow %v, exact value %s", r, g, overflow, want)
		}
		if !overflow && got != USD(want.Int64()) {
			t.Fatalf("Cost(%d, %d) = %d, want %s", r, g, got, want)
		}
	})
}

func costOrOverflow(t *rapid.T, r Rate, g GPUTime) (u USD, overflow bool) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case error:
			if !errors.Is(v, ErrOverflow) {
				t.Fatalf("Cost(%d, %d) panics with %v, want ErrOverflow", r, g, v)
			}
			overflow = true
		default:
			t.Fatalf("Cost(%d, %d) panics with %v, want ErrOverflow", r, g, v)
		}
	}()
	return Cost(r, g), false
}

func TestCostOfKnownSums(t *testing.T) {
	tests := []struct {
		name string
		rate string
		time GPUTime
		want string
	}{
		{"64 GPUs for 2027 at $2.20", "2.20", 64 * 8760 * 3600 * GPUSecond, "1233408.00"},
		{"12 GPU-hours at $2.10", "2.10", 12 * 3600 * GPUSecond, "25.20"},
		{"one GPU-second at $1", "1", GPUSecond, "0.000278"},
		{"nothing", "3.90", 0, "0.00"},
	}
	for _, tt := range tests {
		rate, err := ParseUSD(tt.rate)
		if err != nil {
			t.Fatal(err)
		}
		if got := Cost(rate, tt.time).Decimal(); got != tt.want {
			t.Errorf("%s: cost %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestCostRefusesNegative(t *testing.T) {
	for _, tt := range []struct {
		r Rate
		g GPUTime
	}{{-1, 1}, {1, -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Cost(%d, %d) did not panic", tt.r, tt.g)
				}
			}()
			Cost(tt.r, tt.g)
		}()
	}
}

func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := USD(rapid.Int64Range(-1e15, 1e15).Draw(t, "total"))
		weights := rapid.SliceOfN(rapid.Int64Range(0, 1e15), 1, 20).Draw(t, "weights")
		var sum USD
		var all int64
		for _, w := range weights {
			all += w
		}
		for i, s := range Split(total, weights) {
			sum += s
			if all == 0 {
				continue
			}
			// Each share is within a millionth of its exact part.
			exact := new(big.Rat).SetFrac64(weights[i], all)
			exact.Mul(exact, new(big.Rat).SetInt64(int64(total)))
			off := exact.Sub(exact, new(big.Rat).SetInt64(int64(s)))
			if off.Abs(off).Cmp(big.NewRat(1, 1)) >= 0 {
				t.Fatalf("share %d of %d by %v is %d, a millionth or more off", i, total, weights, s)
			}
		}
		if sum != total {
			t.Fatalf("shares of %d by %v sum to %d", total, weights, sum)
		}
	})
}

func TestSplitTiesGoToTheEarlier(t *testing.T) {
	tests := []struct {
		name    string
		total   USD
		weights []int64
		want    []USD
	}{
		{"a third each", 100, []int64{1, 1, 1}, []USD{34, 33, 33}},
		{"no weights", 7, []int64{0, 0}, []USD{7, 0}},
		{"a debt", -100, []int64{1, 1, 1}, []USD{-34, -33, -33}},
		{"nobody", 7, nil, nil},
	}
	for _, tt := range tests {
		got := Split(tt.total, tt.weights)
		if len(got) != len(tt.want) {
			t.Fatalf("%s: %v, want %v", tt.name, got, tt.want)
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
				break
			}
		}
	}
}

func TestParseTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		zone *time.Location
		end  bool
		want string
	}{
		{"2026-03-29", nil, false, "2026-03-29T00:00:00Z"},
		{"2026-03-29", berlin, true, "2026-03-29T21:59:59Z"}, // a day of 23 hours
		{"2026-03-29T12:30", berlin, true, "2026-03-29T10:30:00Z"},
		{"2026-03-29T12:30:00+05:30", berlin, false, "2026-03-29T07:00:00Z"},
	} {
		got, err := ParseTime(tt.text, tt.zone, tt.end)
		if err != nil || got.String() != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.text, got, err, tt.want)
		}
	}
	if _, err := ParseTime("tomorrow", nil, false); err == nil {
		t.Error("tomorrow is no date")
	}
}

func TestWordsOfNumbersAndLists(t *testing.T) {
	if got := Plural(1, "job") + " " + Plural(0, "job") + " " + Plural(2, "job"); got != "job jobs jobs" {
		t.Errorf("got %s", got)
	}
	list := []string{"a", "b", "c"}
	if got := strings.Join(Abridge(list, 2), ", "); got != "a, b, and 1 more" || list[2] != "c" {
		t.Errorf("got %s of %v", got, list)
	}
	if got := Abridge(list, 3); len(got) != 3 {
		t.Errorf("got %v", got)
	}
}

func TestCheckChoice(t *testing.T) {
	if err := CheckChoice("--gaps", "zero", []string{"error", "zero"}); err != nil {
		t.Error(err)
	}
	var unknown *UnknownError
	if err := CheckChoice("--gaps", "zro", []string{"error", "zero"}); !errors.As(err, &unknown) || !strings.Contains(err.Error(), `unknown --gaps "zro"`) {
		t.Errorf("got %v", err)
	}
}

func TestMicrosText(t *testing.T) {
	for _, x := range []struct {
		us   float64
		want string
	}{{0, "0 s"}, {1, "0.001 ms"}, {350, "0.35 ms"}, {50_000, "50 ms"}, {183_400, "183 ms"}, {999_499, "999 ms"}, {999_500, "1 s"}, {2_577_000, "2.58 s"}, {185e6, "3m5s"}, {-2e6, "-2 s"}} {
		if got := MicrosText(x.us); got != x.want {
			t.Errorf("%v us: got %q, want %q", x.us, got, x.want)
		}
	}
}
