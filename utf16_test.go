package capcli

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// encodeUTF16 returns text as UTF-16 with a byte-order mark.
func encodeUTF16(order binary.AppendByteOrder, units []uint16) []byte {
	out := order.AppendUint16(nil, 0xfeff)
	for _, u := range units {
		out = order.AppendUint16(out, u)
	}
	return out
}

// UTF-16 of both byte orders reads as UTF-8 does, however the bytes come in; what is no text stays no text.
func TestUTF16(t *testing.T) {
	const want = "job_id,tenant\n1,Jürgen 🐢 研\r\n2,x"
	for name, order := range map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
		whole := encodeUTF16(order, utf16.Encode([]rune(want)))
		for _, tt := range []struct {
			name string
			in   []byte
			want string
		}{
			{"whole", whole, want},
			{"empty", whole[:2], ""},
			{"half a unit", whole[:len(whole)-1], want[:len(want)-1] + "\xff"},
			{"lone halves", encodeUTF16(order, []uint16{'a', 0xdc00, 0xd800, 'b', 0xd83d}), "a\xff\xffb\xff"},
		} {
			for way, wrap := range map[string]func(io.Reader) io.Reader{
				"plain": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "data and end": iotest.DataErrReader,
			} {
				got, err := io.ReadAll(NewLineReader(wrap(bytes.NewReader(tt.in))))
				if string(got) != tt.want || err != nil {
					t.Errorf("%s, %s, %s: got %q, %v, want %q", name, tt.name, way, got, err, tt.want)
				}
			}
		}
		broken := io.MultiReader(bytes.NewReader(whole), iotest.ErrReader(io.ErrClosedPipe))
		if _, err := io.ReadAll(NewLineReader(broken)); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: got %v, want the error of the source", name, err)
		}
	}
	for _, plain := range []string{"", "x", "\ufefftext", "\xff", "\xfe\xfe"} {
		if got, err := io.ReadAll(NewLineReader(bytes.NewReader([]byte(plain)))); string(got) != plain || err != nil {
			t.Errorf("%q: got %q, %v", plain, got, err)
		}
	}
}

func TestObjectReader(t *testing.T) {
	for text, want := range map[string][]string{
		`[{"a":1},` + "\n" + `{"b":"}]"}]`:                          {`1:{"a":1}`, `2:{"b":"}]"}`},
		`{"x":{"jobs":[1]},"jobs" : [{"a":[{}]}, {}],"y":2}{"z":3}`: {`1:{"a":[{}]}`, `1:{}`, `1:{"z":3}`},
		`{"jobs":[{"a":"\""}`:                                       {`1:{"a":"\""}`, "is cut short: the list that begins at line 1 does not end"},
		`[{"a":1}`:                                                  {`1:{"a":1}`, "is cut short: the list that begins at line 1 does not end"},
		`{}]`:                                                       {`1:{}`, "want a JSON object, found ']'"},
		`{"jobs":[],"a`:                                             {"is cut short: the JSON object that begins at line 1 does not end"},
		`{} x`:                                                      {`1:{}`, "line 1: want a JSON object, found 'x'"},
	} {
		r := NewObjectReader(NewLineReader(bytes.NewReader([]byte(text))), "jobs", 1)
		var got []string
		for {
			more, err := r.Next()
			if err != nil {
				got = append(got, err.Error())
			}
			if !more {
				break
			}
			got = append(got, string(rune('0'+r.Line))+":"+string(r.Raw))
		}
		if r.Ended != "" {
			got = append(got, r.Ended)
		}
		if len(got) != len(want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
			continue
		}
		for i := range got {
			if !bytes.HasSuffix([]byte(got[i]), []byte(want[i])) {
				t.Errorf("%s: got %q, want %q", text, got[i], want[i])
			}
		}
	}
}
