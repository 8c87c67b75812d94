package decompose

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"capcli/testdata/golden"
)

type goldenSTL struct {
	Window   any       `json:"s_window"`
	Robust   bool      `json:"robust"`
	Seasonal []float64 `json:"seasonal"`
	Trend    []float64 `json:"trend"`
	Rest     []float64 `json:"remainder"`
}

// R 4.2.2 stl and forecast 8.20 mstl.
func TestDecomposeAsR(t *testing.T) {
	for _, name := range []string{"AirPassengers", "JohnsonJohnson", "UKgas", "ldeaths", "nottem", "wineind"} {
		t.Run(name, func(t *testing.T) {
			all := map[string]json.RawMessage{}
			golden.Read(t, name+"-decompose", &all)
			y := golden.Series(t, name)
			for _, kind := range []string{"stl_speriodic", "stl_s13", "stl_speriodic_robust", "stl_s7_robust"} {
				var want goldenSTL
				if err := json.Unmarshal(all[kind], &want); err != nil {
					t.Fatal(err)
				}
				window := 0
				if w, ok := want.Window.(float64); ok {
					window = int(w)
				}
				trend, season, rest, err := STL(y, golden.Frequency[name], Options{Window: window, Robust: want.Robust})
				if err != nil {
					t.Fatal(err)
				}
				golden.CheckNear(t, kind+" trend", trend, want.Trend, 1e-9)
				golden.CheckNear(t, kind+" season", season, want.Seasonal, 1e-9)
				golden.CheckNear(t, kind+" remainder", rest, want.Rest, 1e-8)
			}
			parts := map[string][]float64{}
			if err := json.Unmarshal(all["mstl_default"], &parts); err != nil {
				t.Fatal(err)
			}
			d, err := MSTL(y, []int{golden.Frequency[name]})
			if err != nil {
				t.Fatal(err)
			}
			golden.CheckNear(t, "mstl trend", d.Trend, parts["Trend"], 1e-9)
			golden.CheckNear(t, "mstl season", d.Seasons[0], parts["Seasonal"+strconv.Itoa(golden.Frequency[name])], 1e-9)
			golden.CheckNear(t, "mstl remainder", d.Remainder, parts["Remainder"], 1e-8)
		})
	}
}

func TestSeasonalStrengthAsR(t *testing.T) {
	for _, name := range []string{"AirPassengers", "JohnsonJohnson", "UKgas", "ldeaths", "nottem", "wineind"} {
		var want struct {
			Strength float64 `json:"seas_strength"`
		}
		golden.Read(t, name+"-tests", &want)
		d, err := MSTL(golden.Series(t, name), []int{golden.Frequency[name]})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.SeasonalStrength(0); math.Abs(got-want.Strength) > 1e-9 {
			t.Errorf("%s: strength %.12g, want %.12g", name, got, want.Strength)
		}
	}
}

func TestSTLSumsToTheSeries(t *testing.T) {
	y := make([]float64, 500)
	for i := range y {
		y[i] = math.Sin(float64(i)/3)*7 + float64(i%24)*math.Pow(1.01, float64(i)) - float64(i*i%31)
	}
	for _, o := range []Options{{}, {Window: 7}, {Window: 999, Robust: true}, {Window: 11, Trend: 5001}} {
		trend, season, rest, err := STL(y, 24, o)
		if err != nil {
			t.Fatal(err)
		}
		sum := make([]float64, len(y))
		for i := range y {
			sum[i] = trend[i] + season[i] + rest[i]
		}
		golden.CheckNear(t, "sum", sum, y, 1e-12)
	}
}

func BenchmarkMSTL(b *testing.B) {
	y := make([]float64, 960)
	for i := range y {
		y[i] = math.Sin(float64(i)/3)*7 + float64(i%24) - float64(i*i%31)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := MSTL(y, []int{24, 168}); err != nil {
			b.Fatal(err)
		}
	}
}
