package sorted

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestList holds a list against a slice that is sorted anew after each change.
func TestList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l List[int]
		var want []Entry[int]
		for i := range rapid.IntRange(1, 1500).Draw(t, "changes") {
			if n := len(want); n > 0 && rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
				k := rapid.IntRange(0, n-1).Draw(t, "which")
				l.Remove(want[k].Key, want[k].Seq)
				want = slices.Delete(want, k, k+1)
				continue
			}
			e := Entry[int]{Key: rapid.Int64Range(0, 20).Draw(t, "key"), Seq: uint64(i), Value: i}
			l.Insert(e)
			want = append(want, e)
			slices.SortFunc(want, func(a, b Entry[int]) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Seq, b.Seq)) })
		}
		if got := slices.Concat(l.Chunks...); l.Len() != len(want) || !slices.Equal(got, want) {
			t.Fatalf("%d entries %v, want %v", l.Len(), got, want)
		}
		if l.Reset(); l.Len() != 0 || len(l.Chunks) != 0 {
			t.Fatal("entries are left after Reset")
		}
	})
}
