package shard

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func shardHead(s Shard, pieces int) Head {
	return NewHead(s, "v1", pieces, []string{"--seed=7", "--", "a.yaml"},
		[]Input{{Name: "a.yaml", SHA256: "aa"}, {Name: "jobs.csv", SHA256: "bb"}})
}

// wholeFile makes the file of shard s, whose outcomes tell their piece.
func wholeFile(s Shard, pieces int) *shardFile {
	f := &shardFile{Head: shardHead(s, pieces)}
	for c := range s.numbers(pieces) {
		f.Pieces = append(f.Pieces, shardPiece{Piece: c, Outcome: json.RawMessage(fmt.Sprintf(`{"cost":%d}`, c*c))})
	}
	return f
}

func written(t interface{ Fatal(...any) }, f *shardFile) []byte {
	var b bytes.Buffer
	if err := writeShard(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Every piece is in one shard, and no shard has two more than another.
func TestShardsAreAPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, total := rapid.IntRange(1, 80).Draw(t, "shards"), rapid.IntRange(0, 500).Draw(t, "pieces")
		var all []int
		least, most := total, 0
		for k := range n {
			s := Shard{Index: k, Count: n}
			mine := slices.Collect(s.numbers(total))
			if len(mine) != s.size(total) || !slices.IsSorted(mine) {
				t.Fatalf("shard %d of %d has %v, and says that it has %d", k, n, mine, s.size(total))
			}
			least, most = min(least, len(mine)), max(most, len(mine))
			all = append(all, mine...)
		}
		slices.Sort(all)
		for i := range total {
			if len(all) != total || all[i] != i {
				t.Fatalf("%d shards of %d pieces have %v", n, total, all)
			}
		}
		if most-least > 1 {
			t.Fatalf("one shard has %d pieces, another %d", least, most)
		}
	})
}

func TestShardNames(t *testing.T) {
	if got := (Shard{Index: 3, Count: 64}).Name(); got != "shard-003-of-064.json" {
		t.Errorf("shard 3 of 64 is called %s", got)
	}
	for _, s := range []Shard{{Index: 0, Count: 1}, {Index: 3, Count: 64}, {Index: 1999, Count: 2000}} {
		if got, journal, known := parseName(s.Name()); got != s || journal || !known {
			t.Errorf("%s is told to be %v, %t, %t", s.Name(), got, journal, known)
		}
		if got, journal, known := parseName(s.journalName(12)); got != s || !journal || !known {
			t.Errorf("%s is told to be %v, %t, %t", s.journalName(12), got, journal, known)
		}
	}
	for _, name := range []string{
		"", "shard-", "shard.json", "shard-3-of-64.json", "shard-064-of-064.json", "shard-003-of-064.csv", "shard-003-of-064",
		"shard-003-of-064.json.tmp", ".shard-003-of-064.json.0.tmp", "shard-+03-of-064.json", "shard-003-of-064.journal-", "shard-003-of-064.journal--1",
		"shard-003-of-064.journal-01", "shard-000-of-9999999.json",
	} {
		if s, _, known := parseName(name); known {
			t.Errorf("%q is taken for the shard %v", name, s)
		}
	}
}

func TestShardFilesMergeInAnyOrder(t *testing.T) {
	for _, c := range []struct{ shards, pieces int }{{1, 5}, {3, 10}, {7, 3}, {4, 0}} {
		var files []*shardFile
		for k := range c.shards {
			s := Shard{Index: k, Count: c.shards}
			b := written(t, wholeFile(s, c.pieces))
			if !json.Valid(b) {
				t.Fatalf("not JSON: %s", b)
			}
			f, err := parseShard(s.Name(), b)
			if err != nil {
				t.Fatal(err)
			}
			files = append([]*shardFile{f}, files...)
		}
		got, err := merge(files)
		if err != nil || len(got) != c.pieces {
			t.Fatalf("%v: %d outcomes, %v", c, len(got), err)
		}
		for i, o := range got {
			if want := fmt.Sprintf(`{"cost":%d}`, i*i); string(o) != want {
				t.Errorf("%v: piece %d is %s, want %s", c, i, o, want)
			}
		}
		if _, err := merge(append(files, files[0])); err == nil {
			t.Errorf("%v: a shard that came twice was taken", c)
		}
		if _, err := merge(files[1:]); err == nil {
			t.Errorf("%v: a missing shard was not missed", c)
		}
	}
}

// Any one byte that changes, and any end that is cut off, is seen.
func TestShardFileSeesEveryByte(t *testing.T) {
	s := Shard{Index: 1, Count: 3}
	b := written(t, wholeFile(s, 9))
	for i := range b {
		for _, flip := range []byte{1, 0x20, 0x80} {
			bad := bytes.Clone(b)
			bad[i] ^= flip
			if _, err := parseShard(s.Name(), bad); err == nil {
				t.Errorf("byte %d from %q to %q is not seen", i, b[i], bad[i])
			}
		}
		if _, err := parseShard(s.Name(), b[:i]); err == nil {
			t.Errorf("the first %d of %d bytes are taken for a whole shard", i, len(b))
		}
	}
	if _, err := parseShard(s.Name(), append(bytes.Clone(b), '\n')); err == nil {
		t.Error("a byte too many is not seen")
	}
}

func TestWriteShardWantsEachOutcome(t *testing.T) {
	f := wholeFile(Shard{Index: 0, Count: 2}, 6)
	f.Pieces = f.Pieces[1:]
	if err := writeShard(&bytes.Buffer{}, f); err == nil || !strings.Contains(err.Error(), "expected the outcomes of 3 pieces, found 2") {
		t.Errorf("a shard without an outcome: %v", err)
	}
}

func TestHeadsSayInWhatTheyDiffer(t *testing.T) {
	one := shardHead(Shard{Index: 0, Count: 4}, 9)
	other := shardHead(Shard{Index: 1, Count: 4}, 9)
	if d := one.differences(&other); len(d) > 0 {
		t.Errorf("two shards of one sweep differ in %v", d)
	}
	other = NewHead(Shard{Index: 1, Count: 5}, "v2", 8, []string{"--seed=8", "--", "a.yaml"},
		[]Input{{Name: "a.yaml", SHA256: "aa"}, {Name: "jobs.csv", SHA256: "cc"}, {Name: "prices.csv", SHA256: "dd"}})
	want := "version of capcli (v1 and v2); number of shards (4 and 5); number of pieces (9 and 8); " +
		"command line (--seed=7 and --seed=8); content of jobs.csv; file prices.csv (read by one only)"
	if got := strings.Join(one.differences(&other), "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func journal(t interface{ Fatal(...any) }, f *shardFile) []byte {
	b, err := journalLine(&f.Head)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Pieces {
		line, err := journalLine(&f.Pieces[i])
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, line...)
	}
	return b
}

// However a journal is cut, what is read of it was written so, and only the cut
// line is lost.
func TestJournalLosesOnlyTheTornLine(t *testing.T) {
	f := wholeFile(Shard{Index: 2, Count: 4}, 20)
	b := journal(t, f)
	for n := range len(b) + 1 {
		got, dropped, ok := parseJournal(&f.Head, b[:n])
		lines := bytes.Count(b[:n], []byte("\n"))
		if ok != (lines > 0) || len(got) != max(lines-1, 0) || dropped > 1 {
			t.Fatalf("of %d bytes in %d lines: %d pieces, %d dropped, %t", n, lines, len(got), dropped, ok)
		}
		for c, p := range got {
			if string(p.Outcome) != fmt.Sprintf(`{"cost":%d}`, c*c) {
				t.Fatalf("piece %d is %s", c, p.Outcome)
			}
		}
	}
	bad := bytes.Clone(b)
	bad[bytes.LastIndex(bad, []byte("cost"))] = 'C'
	if got, dropped, ok := parseJournal(&f.Head, bad); len(got) != len(f.Pieces)-1 || dropped != 1 || !ok {
		t.Errorf("a damaged line: %d pieces, %d dropped, %t", len(got), dropped, ok)
	}
	other := shardHead(Shard{Index: 2, Count: 4}, 21)
	if got, _, ok := parseJournal(&other, b); ok || len(got) > 0 {
		t.Error("the journal of another sweep was believed")
	}
	neighbour := shardHead(Shard{Index: 3, Count: 4}, 20)
	if got, _, ok := parseJournal(&neighbour, b); ok || len(got) > 0 {
		t.Error("the journal of another shard was believed")
	}
}

// FuzzParseShard: what is taken for a shard is written back as the same bytes.
func FuzzParseShard(f *testing.F) {
	for _, n := range []int{0, 1, 5} {
		f.Add(written(f, wholeFile(Shard{Index: 0, Count: 2}, n)))
	}
	f.Add([]byte(`{"schema":"capcli/plan-shard/v1"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseShard("x", b)
		if err != nil { // the body alone, under the checksum that it should have
			body, _, _ := bytes.Cut(b, []byte(`],"sha256":"`))
			sum := sha256.Sum256(body)
			if s, err = parseShard("x", fmt.Appendf(bytes.Clone(body), "],\"sha256\":\"%x\"}\n", sum)); err != nil {
				return
			}
		}
		again, err := parseShard("x", written(t, s))
		if err != nil || len(again.Pieces) != len(s.Pieces) || len(s.Head.differences(&again.Head)) > 0 {
			t.Errorf("%q is read, but not what is written of it: %v", b, err)
		}
	})
}

// FuzzParseJournal: whatever is in a journal, its pieces are of the shard.
func FuzzParseJournal(f *testing.F) {
	file := wholeFile(Shard{Index: 1, Count: 3}, 7)
	f.Add(journal(f, file))
	f.Add(journal(f, wholeFile(Shard{Index: 1, Count: 3}, 8)))
	f.Fuzz(func(t *testing.T, b []byte) {
		pieces, _, ok := parseJournal(&file.Head, b)
		for c, p := range pieces {
			if !ok || c != p.Piece || c%3 != 1 || c >= 7 || !json.Valid(p.Outcome) {
				t.Errorf("piece %d is %v", c, p)
			}
		}
	})
}

func TestRanges(t *testing.T) {
	for want, list := range map[string][]int{"": nil, "3": {3}, "3,7": {3, 7}, "0-2,5,7-8": {0, 1, 2, 5, 7, 8}} {
		if got := Ranges(list); got != want {
			t.Errorf("%v is %q, want %q", list, got, want)
		}
	}
}
