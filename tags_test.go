package capcli

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTagSets(t *testing.T) {
	var s TagSets
	s.SetNames([]string{"team", "project", "team"})
	find := func(values ...string) *Tags {
		list := make([][]byte, len(values))
		for i, v := range values {
			list[i] = []byte(v)
		}
		tags, _ := s.Find(list)
		return tags
	}
	a := find("lab", "search", "x")
	if got := fmt.Sprint(a.All()); got != "[{project search} {team lab}]" {
		t.Errorf("got %s", got)
	}
	if find(" lab\n", "sea\x00rch", "") != a || find("lab", "search", "x") != a {
		t.Error("the same tags are made twice")
	}
	if find("", "", "") != nil || find(" ", "\t", "") != nil {
		t.Error("a row without values has tags")
	}
	if b := find("", "lab", ""); b == a || b.Value("team") != "" || b.Value("project") != "lab" || b.Key() == a.Key() {
		t.Errorf("got %+v", b)
	}
	long, flaw := s.Find([][]byte{[]byte(strings.Repeat("ü", MaxTagValue))})
	if v := long.Value("team"); flaw != TagCut || len(v) > MaxTagValue || !utf8.ValidString(v) {
		t.Errorf("got %q, flaw %d", v, flaw)
	}
	if m := a.Merge(NewTags(Tag{"env", "prod"}, Tag{"team", "other"})); fmt.Sprint(m.All()) != "[{env prod} {project search} {team lab}]" {
		t.Errorf("merged %v", m.All())
	}
}

// Rows whose tags are all different end in one set, so that memory has a bound.
func TestTagSetsHaveALimit(t *testing.T) {
	var s TagSets
	s.SetNames([]string{"comment"})
	for i := range MaxTagSets + 10 {
		tags, flaw := s.Find([][]byte{fmt.Appendf(nil, "job %d", i)})
		if want := i >= MaxTagSets; (flaw == TagsOther) != want || (tags.Value("comment") == OtherTag) != want {
			t.Fatalf("row %d: %v, flaw %d", i, tags.All(), flaw)
		}
	}
}

// Rows with tags that were seen before allocate nothing.
func TestTagSetsShare(t *testing.T) {
	var s TagSets
	s.SetNames([]string{"team", "project"})
	rows := [][][]byte{{[]byte("lab"), []byte("a")}, {[]byte("lab"), nil}, {nil, nil}, {[]byte("x "), []byte("b")}}
	each := func() {
		for _, r := range rows {
			s.Find(r)
		}
	}
	each()
	each()
	if n := testing.AllocsPerRun(100, each); n != 0 {
		t.Errorf("%v allocations for known rows", n)
	}
}

// Whatever the values are, tags are clean, in order and within the limits, and equal keys are equal
// tags.
func FuzzTagSets(f *testing.F) {
	f.Add("team", "lab", "project", "a\x00b", "x")
	f.Add("a", "\xff", "b", strings.Repeat("é", 100), "c\x01d\x02")
	f.Fuzz(func(t *testing.T, n1, v1, n2, v2, v3 string) {
		if CheckTagName(n1) != "" || CheckTagName(n2) != "" {
			return
		}
		var s TagSets
		s.SetNames([]string{n1, n2})
		var all []*Tags
		for _, row := range [][][]byte{{[]byte(v1), []byte(v2)}, {[]byte(v3), []byte(v2)}, {nil, []byte(v1)}, {[]byte(v1), []byte(v2)}} {
			tags, _ := s.Find(row)
			again, _ := s.Find(row)
			if tags != again {
				t.Fatal("a row has two sets of tags")
			}
			for i, tag := range tags.All() {
				if clean, cut := CleanTag(tag.Value, MaxTagValue); clean != tag.Value || cut || clean == "" || !utf8.ValidString(clean) {
					t.Errorf("value %q is not clean", tag.Value)
				}
				if i > 0 && tags.All()[i-1].Name >= tag.Name {
					t.Errorf("out of order: %v", tags.All())
				}
			}
			for _, o := range all {
				if (o.Key() == tags.Key()) != slices.Equal(o.All(), tags.All()) {
					t.Errorf("keys %q and %q of %v and %v", o.Key(), tags.Key(), o.All(), tags.All())
				}
			}
			all = append(all, tags)
		}
		if all[0] != all[3] {
			t.Error("the same row has other tags")
		}
	})
}
