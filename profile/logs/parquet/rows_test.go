package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"capcli"
)

// longRow is a long table as others write it.
type longRow struct {
	ID    string   `parquet:"unique_id,dict"`
	Micro int64    `parquet:"us,timestamp(microsecond)"`
	Nano  int64    `parquet:"ns,timestamp(nanosecond:local)"`
	Milli *int64   `parquet:"ms,optional,timestamp(millisecond)"`
	Day   int32    `parquet:"day,date"`
	Small int32    `parquet:"i32,delta"`
	Big   uint64   `parquet:"u64"`
	F32   float32  `parquet:"f32,split"`
	F64   *float64 `parquet:"f64,optional"`
	D32   int32    `parquet:"d32,decimal(2:9)"`
	D64   int64    `parquet:"d64,decimal(3:18)"`
	DFix  [9]byte  `parquet:"dfix,decimal(4:20)"`
	Yes   bool     `parquet:"yes"`
	Tags  []string `parquet:"tags"`
}

func longRows(n int) []longRow {
	out := make([]longRow, n)
	for i := range out {
		at := int64(1_735_689_600 + 3600*i)
		r := longRow{
			ID: fmt.Sprintf("team %d", i%3), Micro: at*1e6 + 7, Nano: at * 1e9, Day: int32(at / 86400), Small: int32(i) - 5,
			Big: math.MaxUint64 - uint64(i), F32: float32(i) / 4, D32: int32(-i), D64: int64(i) * 1001, Yes: i%2 == 0, Tags: []string{"a"},
		}
		if i%5 != 0 {
			f, ms := float64(i)/8, (at-1)*1000
			r.F64, r.Milli = &f, &ms
		}
		for k := range r.DFix {
			r.DFix[k] = 0xff // minus one
		}
		out[i] = r
	}
	return out
}

// readRows gives every cell of a file as text, by column, null as "null".
func readRows(b []byte) (map[string][]string, []Header, error) {
	r, err := NewRows(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, nil, err
	}
	heads := r.Headers()
	places := make([]int, len(heads))
	for i := range places {
		places[i] = i
	}
	if err := r.Pick(places...); err != nil {
		return nil, nil, err
	}
	out := map[string][]string{}
	for {
		cells, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, heads, nil
		}
		if err != nil {
			return nil, nil, err
		}
		for i, c := range cells {
			for k := range c.Null {
				text := "null"
				switch {
				case c.Null[k]:
				case c.Ints != nil:
					text = fmt.Sprint(c.Ints[k])
				case c.Floats != nil:
					text = fmt.Sprint(c.Floats[k])
				default:
					text = c.Texts[k]
				}
				out[heads[i].Name] = append(out[heads[i].Name], text)
			}
		}
	}
}

func TestRowsOfOthers(t *testing.T) {
	rows := longRows(1500)
	for name, options := range map[string][]pq.WriterOption{
		"v1":             {pq.DataPageVersion(1)},
		"v2 zstd":        {pq.Compression(&pq.Zstd)},
		"snappy, tiny":   {pq.Compression(&pq.Snappy), pq.PageBufferSize(200), pq.DataPageVersion(1)},
		"lz4, no dict":   {pq.Compression(&pq.Lz4Raw), pq.DictionaryMaxBytes(4)},
		"gzip v2, small": {pq.Compression(&pq.Gzip), pq.PageBufferSize(64)},
	} {
		t.Run(name, func(t *testing.T) {
			got, heads, err := readRows(writeForeign(t, rows, options...))
			if err != nil {
				t.Fatal(err)
			}
			want := []Header{
				{"unique_id", Texts},
				{"us", Instants},
				{"ns", Locals},
				{"ms", Instants},
				{"day", Dates},
				{"i32", Integers},
				{"u64", Fractions},
				{"f32", Fractions},
				{"f64", Fractions},
				{"d32", Fractions},
				{"d64", Fractions},
				{"dfix", Fractions},
				{"yes", Truths},
			}
			if !slices.Equal(heads, want) {
				t.Fatalf("columns %v, want %v", heads, want)
			}
			for i, r := range rows {
				at := int64(1_735_689_600 + 3600*i)
				ms, f64 := "null", "null"
				if r.F64 != nil {
					ms, f64 = fmt.Sprint(at-1), fmt.Sprint(*r.F64)
				}
				yes := "0"
				if r.Yes {
					yes = "1"
				}
				for column, want := range map[string]string{
					"unique_id": r.ID, "us": fmt.Sprint(at), "ns": fmt.Sprint(at), "ms": ms, "day": fmt.Sprint(at - at%86400), "i32": fmt.Sprint(i - 5),
					"u64": fmt.Sprint(float64(r.Big)), "f32": fmt.Sprint(float64(r.F32)), "f64": f64, "d32": fmt.Sprint(float64(-i) / 100),
					"d64": fmt.Sprint(float64(1001*i) / 1000), "dfix": "-0.0001", "yes": yes,
				} {
					if got[column][i] != want {
						t.Fatalf("row %d, %s: got %s, want %s", i, column, got[column][i], want)
					}
				}
			}
		})
	}
}

func TestRowsOfOurOwnTable(t *testing.T) {
	var b bytes.Buffer
	w, err := NewTable(&b, []Column{{Name: "unique_id", Kind: Text, Repeats: true}, {Name: "ds", Kind: Instant}, {Name: "y", Kind: Float64, Nullable: true}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		w.Text(0, fmt.Sprint("s", i/500))
		w.Time(1, capcli.Time(i))
		if i%7 == 0 {
			w.Null(2)
		} else {
			w.Float(2, float64(i)/10)
		}
		if err := w.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, _, err := readRows(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got["unique_id"][999] != "s1" || got["ds"][999] != "999" || got["y"][7] != "null" || got["y"][999] != "99.9" || len(got["y"]) != 1000 {
		t.Errorf("got %v", got["y"][990:])
	}
	for n := 0; n < b.Len(); n += 11 {
		if _, _, err := readRows(b.Bytes()[:n]); err == nil {
			t.Fatalf("the first %d bytes were read without an error", n)
		}
	}
}

func FuzzRows(f *testing.F) {
	good := writeForeign(f, longRows(40), pq.DataPageVersion(1), pq.Compression(&pq.Snappy))
	f.Add(good)
	f.Add(writeForeign(f, longRows(40)))
	for at := 0; at < len(good); at += 13 {
		b := bytes.Clone(good)
		b[at] ^= 0xff
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		columns, heads, err := readRows(b)
		if err != nil {
			var in *capcli.InputError
			if !errors.As(err, &in) {
				t.Fatalf("an error that is no input error: %v", err)
			}
			return
		}
		for _, h := range heads {
			if len(columns[h.Name]) != len(columns[heads[0].Name]) {
				t.Fatalf("column %s has %d cells, %s %d", h.Name, len(columns[h.Name]), heads[0].Name, len(columns[heads[0].Name]))
			}
		}
	})
}
