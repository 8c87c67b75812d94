package billing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/money/focus"
)

// The names in UseOptions.By that are no tags: who used, who is billed, and the class of the job.
const (
	byTenant  = "tenant"
	byAccount = "account"
	byClass   = "class"
)

// tagColumns returns the column of each name of UseOptions.By in capcli's own columns: that of the
// tag, or the column of that name; -1 where nobody states a tenant, account or class. It fails where
// there is no such column.
func (u *useReader) tagColumns() ([]int, error) {
	var out []int
	for _, name := range u.o.By {
		at := u.FindColumn("tag_"+name, "tag:"+name, name)
		switch {
		case at >= 0:
		case name == byTenant:
			at = u.place[useTenant]
		case name == byAccount:
			at = u.place[useAccount]
		case name == byClass:
			at = u.place[useClass]
		default:
			return nil, unknownTag(name, u.Names)
		}
		out = append(out, at)
	}
	return out, nil
}

// unknownTag returns the error for a name of UseOptions.By that the use does not have. names are
// those that it has.
func unknownTag(name string, names []string) error {
	const mostNames = 30
	hint := ""
	if near := capcli.Nearest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %s?", capcli.Quoted(near))
	}
	text := fmt.Sprintf("the use has no %s", capcli.Quoted(name))
	if len(names) > 0 {
		text += ": it has " + strings.Join(capcli.Abridge(names, mostNames), ", ")
	}
	return &capcli.RequestError{Field: "by", Text: text, Hint: hint}
}

// tagger gives lines of use their tags.
type tagger struct {
	sets   capcli.TagSets
	values []string // of the current line, in the order of UseOptions.By
	flaws  int64    // lines whose tags were not kept whole
}

func newTagger(names []string) *tagger {
	t := &tagger{values: make([]string, len(names))}
	t.sets.SetNames(names)
	return t
}

// tags returns the tags of the current line.
func (t *tagger) tags() *capcli.Tags {
	tags, flaw := t.sets.FindTexts(t.values)
	if flaw != capcli.TagsWhole {
		t.flaws++
	}
	return tags
}

// notes returns a note where tags were not kept whole.
func (t *tagger) notes() []string {
	if t.flaws == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s lines have tags of over %d bytes, or are beyond the first %s sets of tags: their tags are cut or %s",
		capcli.Grouped(t.flaws), capcli.MaxTagValue, capcli.Grouped(capcli.MaxTagSets), capcli.OtherTag)}
}

// focusTags finds the tags and the tenants of the rows of a bill in FOCUS.
type focusTags struct {
	*tagger
	by      []string
	tenants []string                    // keys of the tags that name the tenant, in order of preference
	parsed  *focus.Memo[map[string]any] // by Tags
	known   map[string]bool             // keys of the tags of all rows
}

func newFocusTags(o UseOptions) *focusTags {
	t := &focusTags{tagger: newTagger(o.By), by: o.By, tenants: []string{"tenant", "team", "project"}, known: map[string]bool{}}
	if o.Tag != "" {
		t.tenants = []string{o.Tag}
	}
	t.parsed = focus.NewMemo(func(text string) map[string]any {
		var m map[string]any
		_ = json.Unmarshal([]byte(text), &m) // a text that is no object has no tags
		for k := range m {
			t.known[k] = true
		}
		return m
	})
	return t
}

// tenant returns the tenant of a row: its tag, else its account.
func (t *focusTags) tenant(r *focus.Row) string {
	m := t.parsed.Find(r.Tags)
	for _, k := range t.tenants {
		if m[k] != nil {
			return cmp.Or(fmt.Sprint(m[k]), account(r))
		}
	}
	return account(r)
}

func account(r *focus.Row) string {
	return cmp.Or(r.SubAccountName, r.SubAccountID, r.BillingAccountName, r.BillingAccountID)
}

// tagsOf returns the tags of a row; nil where nothing is to be grouped.
func (t *focusTags) tagsOf(r *focus.Row) *capcli.Tags {
	if len(t.by) == 0 {
		return nil
	}
	m := t.parsed.Find(r.Tags)
	for i, name := range t.by {
		switch v := m[name]; {
		case v != nil:
			t.values[i] = fmt.Sprint(v)
		case name == byTenant:
			t.values[i] = t.tenant(r)
		case name == byAccount:
			t.values[i] = account(r)
		default:
			t.values[i] = ""
		}
	}
	return t.tags()
}

// check fails where a name of UseOptions.By is the key of no tag.
func (t *focusTags) check() error {
	for _, name := range t.by {
		if !t.known[name] && name != byTenant && name != byAccount {
			return unknownTag(name, append(slices.Sorted(maps.Keys(t.known)), byTenant, byAccount))
		}
	}
	return nil
}
