package forecast

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"capcli/forecast/model"
)

// frequency of the classic series, from their meta.json.
var frequency = map[string]int{
	"AirPassengers": 12, "WWWusage": 1, "UKgas": 4, "JohnsonJohnson": 4, "LakeHuron": 1,
	"ldeaths": 12, "nottem": 12, "wineind": 12, "gold": 1,
}

// golden reads a golden answer into v; the test is skipped where the data is absent.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "shared", "golden", "forecast", name+".json.gz"))
	if err != nil {
		t.Skip("no golden answers here: ", err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// textbook reads a classic series.
func textbook(t *testing.T, name string) []float64 {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "shared", "data", "series", "classic", name+".csv"))
	if err != nil {
		t.Skip("no series here: ", err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var y []float64
	for _, row := range rows[1:] {
		v, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			v = math.NaN()
		}
		y = append(y, v)
	}
	return y
}

// near fails where got and want differ by more than tolerance of the largest of want.
func checkNear(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	limit := tolerance * math.Max(model.Largest(want), 1e-12)
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= limit) {
			t.Errorf("%s[%d] = %.12g, want %.12g", what, i, got[i], want[i])
			return
		}
	}
}

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
			golden(t, name+"-decompose", &all)
			y := textbook(t, name)
			for _, kind := range []string{"stl_speriodic", "stl_s13", "stl_speriodic_robust", "stl_s7_robust"} {
				var want goldenSTL
				if err := json.Unmarshal(all[kind], &want); err != nil {
					t.Fatal(err)
				}
				window := 0
				if w, ok := want.Window.(float64); ok {
					window = int(w)
				}
				trend, season, rest, err := STL(y, frequency[name], STLOptions{Window: window, Robust: want.Robust})
				if err != nil {
					t.Fatal(err)
				}
				checkNear(t, kind+" trend", trend, want.Trend, 1e-9)
				checkNear(t, kind+" season", season, want.Seasonal, 1e-9)
				checkNear(t, kind+" remainder", rest, want.Rest, 1e-8)
			}
			parts := map[string][]float64{}
			if err := json.Unmarshal(all["mstl_default"], &parts); err != nil {
				t.Fatal(err)
			}
			d, err := MSTL(y, []int{frequency[name]})
			if err != nil {
				t.Fatal(err)
			}
			checkNear(t, "mstl trend", d.Trend, parts["Trend"], 1e-9)
			checkNear(t, "mstl season", d.Seasons[0], parts["Seasonal"+strconv.Itoa(frequency[name])], 1e-9)
			checkNear(t, "mstl remainder", d.Remainder, parts["Remainder"], 1e-8)
		})
	}
}

func TestSeasonalStrengthAsR(t *testing.T) {
	for _, name := range []string{"AirPassengers", "JohnsonJohnson", "UKgas", "ldeaths", "nottem", "wineind"} {
		var want struct {
			Strength float64 `json:"seas_strength"`
		}
		golden(t, name+"-tests", &want)
		d, err := MSTL(textbook(t, name), []int{frequency[name]})
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
	for _, o := range []STLOptions{{}, {Window: 7}, {Window: 999, Robust: true}, {Window: 11, Trend: 5001}} {
		trend, season, rest, err := STL(y, 24, o)
		if err != nil {
			t.Fatal(err)
		}
		sum := make([]float64, len(y))
		for i := range y {
			sum[i] = trend[i] + season[i] + rest[i]
		}
		checkNear(t, "sum", sum, y, 1e-12)
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
