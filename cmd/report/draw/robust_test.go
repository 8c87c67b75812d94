package draw

import (
	"bytes"
	"encoding/binary"
	"image/png"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"capcli/scenarios/figure"
	"capcli/testdata/figuretest"
	"capcli/testdata/golden"
)

// shaped returns a figure of a kind with rows series of n points.
func shaped(kind figure.Kind, rows, n int, value func(series, i, list int) float64, name func(i int) string) *figure.Figure {
	f := &figure.Figure{ID: "f", Title: name(0), Sentence: name(1), Kind: kind, X: figure.Axis{Label: name(2), Unit: figure.Count}, Y: figure.Axis{Label: name(3), Unit: figure.USD}}
	if kind == figure.Waterfall || kind == figure.Tornado {
		rows = 1
	}
	if kind.HasNames() {
		f.X.Unit = figure.Name
		for i := range n {
			f.X.Names = append(f.X.Names, name(i))
		}
	}
	list := func(s, k int) []figure.Number {
		out := make([]figure.Number, n)
		for i := range out {
			out[i] = figure.Number(value(s, i, k))
		}
		return out
	}
	for s := range rows {
		one := figure.Series{Name: name(s), Lo: list(s, 2), Hi: list(s, 3)}
		if one.Name == "" || s > 0 {
			one.Name = strings.Repeat("s", s+1) + one.Name
		}
		if kind != figure.Tornado {
			one.Y = list(s, 1)
		}
		if !kind.HasNames() && kind != figure.Spans {
			one.X = list(s, 0)
		}
		for i := range n {
			one.Labels = append(one.Labels, name(i))
		}
		if n > 0 {
			one.Chosen = []int{n / 2}
		}
		one.Over, one.Pile, one.Dashed = s%3 == 2, s%2 == 1, s%4 == 1
		f.Series = append(f.Series, one)
	}
	f.Marks = []figure.Mark{{Label: name(4), Axis: "x", At: figure.Number(value(0, 0, 0))}, {Label: name(5), Axis: "y", At: figure.Number(value(0, 0, 1))}}
	return f
}

// draws checks that a figure has a picture that is XML, without a number that is none, and of a size
// that somebody can look at.
func draws(t *testing.T, f *figure.Figure, pixels bool) {
	t.Helper()
	if f.Check() != nil {
		return
	}
	d, err := Inline(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := SVG(&file, f, Options{}); err != nil {
		t.Fatal(err)
	}
	texts := []string{d.SVG, file.String()}
	if !pixels {
		texts = texts[1:]
	}
	for _, text := range texts {
		all, err := elements(text)
		if err != nil {
			t.Fatalf("%s: no XML: %v", f.Kind, err)
		}
		for _, e := range all {
			for _, a := range []string{"x", "y", "width", "height", "cx", "cy", "points"} {
				if v := e.attrs[a]; strings.Contains(v, "NaN") || strings.Contains(v, "Inf") || strings.Contains(v, "e+") {
					t.Errorf("%s: %s of a %s is %.60s", f.Kind, a, e.name, v)
				}
			}
			if e.name == "script" {
				t.Fatalf("%s: a name became a script", f.Kind)
			}
		}
		if h := all[0].number(t, "height"); h < 60 || h > 3500 {
			t.Errorf("%s: %v pixels high", f.Kind, h)
		}
	}
	if !pixels {
		return
	}
	var b bytes.Buffer
	if err := PNG(&b, f, Options{Scale: 0.5}); err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(&b); err != nil {
		t.Fatal(err)
	}
}

func TestRobust(t *testing.T) {
	plain := func(i int) string { return "name " + strings.Repeat("x", i%7) }
	attacks := figuretest.Attacks()
	hostile := func(i int) string { return attacks[i%len(attacks)] }
	ramp := func(s, i, k int) float64 { return float64(s+1) * float64(i+k) }
	tests := []struct {
		name    string
		rows, n int
		value   func(s, i, k int) float64
		text    func(i int) string
	}{
		{"empty", 1, 0, ramp, plain},
		{"one point", 1, 1, ramp, plain},
		{"one point at zero", 1, 1, func(int, int, int) float64 { return 0 }, plain},
		{"all the same", 2, 9, func(int, int, int) float64 { return 7e9 }, plain},
		{"all NaN", 2, 9, func(int, int, int) float64 { return math.NaN() }, plain},
		{"all infinite", 2, 9, func(int, int, int) float64 { return math.Inf(-1) }, plain},
		{"every second NaN", 3, 9, func(s, i, k int) float64 {
			if i%2 == 1 {
				return math.NaN()
			}
			return ramp(s, i, k)
		}, plain},
		{"huge", 2, 9, func(s, i, k int) float64 { return math.Pow(10, float64(40*i)) }, plain},
		{"largest", 2, 9, func(s, i, k int) float64 { return math.MaxFloat64 * float64(i%3-1) }, plain},
		{"tiny", 2, 9, func(s, i, k int) float64 { return 5e-324 * float64(i) }, plain},
		{"close together", 2, 9, func(s, i, k int) float64 { return 1e15 + float64(i) }, plain},
		{"negative", 3, 9, func(s, i, k int) float64 { return -ramp(s, i, k) }, plain},
		{"both signs", 3, 9, func(s, i, k int) float64 { return float64((s+i+k)%5 - 2) }, plain},
		{"200 series", 200, 5, ramp, plain},
		{"3000 points", 2, 3000, ramp, plain},
		{"attacks", 6, 66, ramp, hostile},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, kind := range figure.Kinds {
				f := shaped(kind, tt.rows, tt.n, tt.value, tt.text)
				if err := f.Check(); err != nil && tt.n > 0 {
					t.Fatalf("%s: %v", kind, err)
				}
				draws(t, f, !golden.Short() && tt.rows < 10 && tt.n < 100)
				for _, u := range []figure.Unit{figure.Time, figure.Seconds, figure.Share} {
					if tt.n*tt.rows > 500 {
						continue
					}
					f.X.Unit = u
					if kind.HasNames() {
						f.X.Unit = figure.Name
					}
					if u != figure.Time {
						f.Y.Unit = u
					}
					draws(t, f, false)
				}
			}
		})
	}
}

func TestNotesSayWhatIsLeftOut(t *testing.T) {
	ramp := func(s, i, k int) float64 { return float64(s*10 + i + k) }
	plain := func(i int) string { return "a name that is long enough " + strings.Repeat("x", i%9) }
	tests := []struct {
		kind    figure.Kind
		rows, n int
		want    string
	}{
		{figure.Bars, 1, 200, "The first 50 of 200 names are drawn."},
		{figure.Tornado, 1, 80, "The first 50 of 80 names are drawn."},
		{figure.Heat, 90, 300, "The first 60 of 90 rows and 200 of 300 columns are drawn."},
		{figure.Spans, 200, 2, "rows are drawn."},
		{figure.Lines, 200, 3, "Only the first 24 series have a colour; the other 176 are grey."},
	}
	for _, tt := range tests {
		d, err := Inline(shaped(tt.kind, tt.rows, tt.n, ramp, plain), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(d.Notes, "\n"), tt.want) {
			t.Errorf("%s: notes %q, want %s", tt.kind, d.Notes, tt.want)
		}
	}
	f := shaped(figure.Lines, 1, 4, ramp, plain)
	f.Marks[1].At = 1e9
	f.Marks[0].At = figure.Number(math.NaN())
	d, err := Inline(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(d.Notes, "\n"); !strings.Contains(notes, "lies outside the picture") || !strings.Contains(notes, "is unknown and not drawn") {
		t.Errorf("notes %q", d.Notes)
	}
}

// TestExtremesTogether draws figures of a few extreme values and units: each has a picture.
func TestExtremesTogether(t *testing.T) {
	extremes := []float64{
		0, math.Copysign(0, -1), 1, -1, 5e-324, -5e-324, 1e-310, 1e-100, 1e15, -1e15, 1e47, 1e100, -1e130, 1e300, -1e300,
		math.MaxFloat64, -math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1),
	}
	for i := range uint64(6000) {
		r := rand.New(rand.NewPCG(i, 7))
		values := make([]float64, 1+r.IntN(4))
		for j := range values {
			values[j] = math.Float64frombits(r.Uint64())
			if r.IntN(3) > 0 {
				values[j] = extremes[r.IntN(len(extremes))]
			}
		}
		value := func(int, int, int) float64 { return values[r.IntN(len(values))] }
		f := shaped(figure.Kinds[r.IntN(len(figure.Kinds))], 1+r.IntN(4), 1+r.IntN(9), value, strconv.Itoa)
		if r.IntN(2) == 0 {
			f.X.Unit = figure.Units[r.IntN(len(figure.Units))]
		}
		f.Y.Unit = figure.Units[r.IntN(len(figure.Units))]
		draws(t, f, false)
		if t.Failed() {
			t.Fatalf("draw %d, values %v, units %v and %v", i, values, f.X.Unit, f.Y.Unit)
		}
	}
}

// FuzzDraw draws figures of arbitrary kinds, values and names. The first bytes choose the kind and
// the sizes; then come values of eight bytes, which repeat.
func FuzzDraw(f *testing.F) {
	f.Add([]byte{0, 2, 5, 1, 2, 3, 4, 5, 6, 7, 8}, "name")
	f.Add([]byte{6, 7, 24, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f}, "</script>")
	f.Add([]byte{7, 30, 40, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, "\xff\u202e")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		if len(data) < 11 || len(text) > 2000 {
			return
		}
		kind, rows, n := figure.Kinds[int(data[0])%len(figure.Kinds)], 1+int(data[1])%40, int(data[2])%70
		data = data[3:]
		at := 0
		value := func(int, int, int) float64 {
			at = (at + 3) % (len(data) - 7)
			return math.Float64frombits(binary.LittleEndian.Uint64(data[at:]))
		}
		one := shaped(kind, rows, n, value, func(i int) string { return text[min(i, len(text)):] })
		one.X.Unit = figure.Units[int(data[0])%len(figure.Units)]
		one.Y.Unit = figure.Units[int(data[1])%len(figure.Units)]
		draws(t, one, rows < 3 && n < 20)
	})
}
