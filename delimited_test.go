package capcli

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// records reads all records of text, joined with a bar between fields.
func records(text string, sep byte) (out []string, faults []QuoteFault, r *LineReader) {
	r = NewLineReader(strings.NewReader(text))
	f := Fields{Separator: sep}
	for {
		line, ok := r.Next()
		if !ok {
			return out, faults, r
		}
		faults = append(faults, f.SplitRecord(r, line))
		out = append(out, string(bytes.Join(f.Row, []byte{'|'})))
	}
}

// TestFieldsAsTheStandardLibraryWrites reads back what encoding/csv wrote, with separators,
// quotes and line ends inside fields.
func TestFieldsAsTheStandardLibraryWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(2, 5).Draw(t, "width")
		field := rapid.StringMatching(`[ab,;"\n é]{0,6}`)
		want := rapid.SliceOfN(rapid.SliceOfN(field, width, width), 1, 20).Draw(t, "rows")
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		if err := w.WriteAll(want); err != nil {
			t.Fatal(err)
		}
		got, _, _ := records(b.String(), ',')
		for i, row := range want {
			if i >= len(got) || got[i] != strings.Join(row, "|") {
				t.Fatalf("row %d of %q: got %q", i, want, got)
			}
		}
		if len(got) > len(want) {
			t.Fatalf("got %d rows, want %d", len(got), len(want))
		}
	})
}

func TestFields(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     string
		fault    QuoteFault
	}{
		{"plain", "a,b", "a|b", QuotesSound},
		{"mark and carriage return", "\ufeffa,b\r\n", "a|b", QuotesSound},
		{"empty fields", ",,", "||", QuotesSound},
		{"quotes", `"a""b","c,d"`, `a"b|c,d`, QuotesSound},
		{"a quote inside", `a"b,c`, `a"b|c`, QuoteInside},
		{"text behind a quote", `"a"b,c`, "ab|c", TextBehindQuote},
		{"over two lines", "\"a\nb\",c", "a\nb|c", QuotesSound},
		{"never closed", "a,\"b\nc", "", QuoteOpen},
	} {
		got, faults, r := records(c.in, ',')
		if len(got) != 1 || got[0] != c.want || faults[0] != c.fault {
			t.Errorf("%s: got %q and %v, want %q and %v", c.name, got, faults, c.want, c.fault)
		}
		if !errors.Is(r.Err(), io.EOF) {
			t.Errorf("%s: ended with %v", c.name, r.Err())
		}
	}
}

func TestALineHasALimit(t *testing.T) {
	long := strings.Repeat("x", MaxLine)
	for _, c := range []struct {
		name, in string
		lines    int
		err      error
	}{
		{"at the limit", "a\n" + long + "\n", 2, io.EOF},
		{"over it", "a\n" + long + "x\n", 1, ErrLongLine},
		{"over it without an end", "a\n" + long + long, 1, ErrLongLine},
		{"a record over it", "a\n\"" + strings.Repeat("x\n", MaxLine), 1, ErrLongLine},
	} {
		_, _, r := records(c.in, ',')
		if r.Line() != c.lines || !errors.Is(r.Err(), c.err) {
			t.Errorf("%s: %d lines and %v, want %d and %v", c.name, r.Line(), r.Err(), c.lines, c.err)
		}
	}
}
