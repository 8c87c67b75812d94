package change

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"capcli"
	"capcli/forecast/model"
	"capcli/testdata/golden"
)

// indices is one number or a list, as R writes them, from 1.
type indices []int

func (x *indices) UnmarshalJSON(b []byte) error {
	var one int
	if json.Unmarshal(b, &one) == nil {
		*x = indices{one}
		return nil
	}
	return json.Unmarshal(b, (*[]int)(x))
}

func TestAnomaliesAsR(t *testing.T) {
	for _, name := range []string{"AirPassengers", "JohnsonJohnson", "LakeHuron", "UKgas", "WWWusage", "gold", "ldeaths", "nottem", "wineind"} {
		t.Run(name, func(t *testing.T) {
			var g struct{ Tsoutliers struct{ Index indices } }
			golden.Read(t, name+"-tests", &g)
			found, err := findAnomalies(capcli.Series{Values: golden.Series(t, name)}, []int{golden.Frequency[name]})
			if err != nil {
				t.Fatal(err)
			}
			got := []int{}
			for _, a := range found {
				got = append(got, a.Index+1)
				if a.Value >= a.Lo && a.Value <= a.Hi {
					t.Errorf("%d: %v is within its fence %v to %v", a.Index, a.Value, a.Lo, a.Hi)
				}
			}
			if !slices.Equal(got, []int(g.Tsoutliers.Index)) {
				t.Errorf("anomalies at %v, want %v", got, g.Tsoutliers.Index)
			}
		})
	}
}

func TestAnomaliesTakeAnything(t *testing.T) {
	nan := math.NaN()
	for name, row := range map[string]struct {
		y    []float64
		want []int
	}{
		"constant": {slices.Repeat([]float64{5}, 50), nil},
		"gaps":     {[]float64{nan, 1, nan, 2, 3, nan}, nil},
		"huge":     {[]float64{1e290, -1e290, 1e289, 1e288, 1}, nil},
	} {
		found, err := findAnomalies(capcli.Series{Values: row.y}, []int{2, 7})
		if err != nil || name == "constant" && len(found) > 0 {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	if _, err := findAnomalies(capcli.Series{Values: []float64{1, nan}}, nil); !errors.Is(err, model.ErrTooShort) {
		t.Errorf("one value: %v, want ErrTooShort", err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	y := make([]float64, 24*21)
	for i := range y {
		y[i] = 50 + 20*math.Sin(2*math.Pi*float64(i)/24) + rng.NormFloat64()
	}
	y[100] -= 30
	y[300] += 25
	found, err := findAnomalies(capcli.Series{Values: y}, []int{24})
	if err != nil || len(found) != 2 || found[0].Index != 100 || found[1].Index != 300 || math.Abs(found[0].Expected-(y[100]+30)) > 3 {
		t.Errorf("found %+v, %v, want those put at 100 and 300", found, err)
	}
}

// The same values stand out as for R's tsoutliers, and are replaced by the same.
func TestAnomaliesOfTextbookSeriesAsR(t *testing.T) {
	names, facts := golden.ReadFacts(t)
	for _, name := range names {
		s := facts.Series[name]
		found, err := findAnomalies(s.Series(), s.Periods())
		if err != nil {
			t.Fatal(err)
		}
		at, instead := make([]int, len(found)), make([]float64, len(found))
		for i, a := range found {
			at[i], instead[i] = a.Index+1, a.Expected
		}
		if !slices.Equal(at, s.Outliers.Index) {
			t.Errorf("%s: anomalies at %v, R's at %v", name, at, s.Outliers.Index)
			continue
		}
		s.CheckNear(t, name+" replacements", instead, s.Outliers.Replacements, 1e-6)
	}
}
