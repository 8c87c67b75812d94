package kubernetes

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
	"capcli/scenarios/strict"
)

func field(name string, read strict.Reader) strict.Field { return strict.Field{Name: name, Read: read} }

// skip reads a field that decides nothing here.
func skip(*strict.Decoder, *yaml.Node) {}

// skipped are fields that decide nothing here.
func skipped(names string) []strict.Field {
	return capcli.Map(strings.Fields(names), func(name string) strict.Field { return field(name, skip) })
}

// text reads a text of any length.
func text(to *string) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		s, ok := d.ReadScalar(n, "a text")
		if ok && len(s) <= maxText {
			*to = s
		}
	}
}

// pointer reads a value of which it matters whether it is there.
func pointer[T any](to **T, read func(*T) strict.Reader) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		v := new(T)
		before := d.FaultCount()
		if read(v)(d, n); d.FaultCount() == before {
			*to = v
		}
	}
}

// choice reads one of several words. A word that is spelt old=new is read as new.
func choice(to *string, words ...string) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		s, ok := d.ReadScalar(n, "one of "+strings.Join(words, ", "))
		if !ok {
			return
		}
		for _, w := range words {
			old, now, two := strings.Cut(w, "=")
			if s == old {
				*to = old
				if two {
					*to = now
				}
				return
			}
		}
		known := capcli.Map(words, func(w string) string {
			old, _, _ := strings.Cut(w, "=")
			return old
		})
		d.FaultWant(n, "one of "+strings.Join(known, ", "))
	}
}

func integer(to *int64) strict.Reader { return strict.Integer(to, math.MinInt32, math.MaxInt32) }

// quantity reads an amount that is not negative.
func quantity(to *capcli.Quantity) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		s, ok := d.ReadScalar(n, "a quantity")
		if !ok {
			return
		}
		q, err := capcli.ParseQuantity(s)
		switch {
		case err != nil:
			d.FaultWant(n, "a quantity such as 8, 500m, 1k or 64Gi")
		case q.Milli() < 0:
			d.Fault(n, "%s is negative", d.FieldName())
		default:
			*to = q
		}
	}
}

// units is an amount of a resource in the unit in which Kueue counts it: thousandths of a CPU, else
// whole units.
func units(resource string, q capcli.Quantity) int64 {
	if resource == "cpu" {
		return q.Milli()
	}
	return q.Value()
}

func amounts(to *map[string]capcli.Quantity) strict.Reader {
	return mapOf(to, func(v *capcli.Quantity) strict.Reader { return quantity(v) })
}

func texts(to *map[string]string) strict.Reader { return mapOf(to, text) }

func mapOf[T any](to *map[string]T, read func(*T) strict.Reader) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind != yaml.MappingNode {
			d.FaultWant(n, "fields {…}")
			return
		}
		*to = make(map[string]T, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if _, twice := (*to)[key.Value]; twice {
				d.Fault(key, "%s is given twice", capcli.Quoted(key.Value))
				continue
			}
			var v T
			d.Enter(key.Value)
			read(&v)(d, n.Content[i+1])
			d.Leave()
			(*to)[key.Value] = v
		}
	}
}

// object reads a section with these fields.
func object(name string, fields ...strict.Field) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) { d.ReadObject(n, name, fields) }
}

// list reads a list of sections or values.
func list[T any](to *[]T, what string, read func(*T) strict.Reader) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		d.ReadList(n, maxList, what, func(_ int, n *yaml.Node) {
			var v T
			before := d.FaultCount()
			if read(&v)(d, n); d.FaultCount() == before {
				*to = append(*to, v)
			}
		})
	}
}

func textList(to *[]string, what string) strict.Reader { return list(to, what, text) }

func instant(to *capcli.Time) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		s, ok := d.ReadScalar(n, "a time")
		if !ok {
			return
		}
		t, err := time.Parse(time.RFC3339, s)
		if err != nil || t.Year() < 1970 || t.Year() > 9999 {
			d.FaultWant(n, "a time such as 2026-03-03T07:58:01Z")
			return
		}
		*to = capcli.TimeOf(t)
	}
}

// meta is an object's metadata.
type meta struct {
	name, namespace, uid string
	created              capcli.Time
	labels, annotations  map[string]string
	owner                owner

	file string
	line int
}

// owner is the object that controls another.
type owner struct {
	kind, name, uid string
	controller      bool
}

func (m *meta) id() string { return m.namespace + "/" + m.name }

func (m *meta) fault(field, text, hint string) error {
	return &capcli.InputError{File: m.file, Line: m.line, Field: field, Text: text, Hint: hint}
}

// metadata reads an object's metadata.
func metadata(m *meta) strict.Reader {
	m.created = capcli.NoTime
	var owners []owner
	fields := slices.Concat([]strict.Field{
		field("name", strict.Text(&m.name, 253)), field("namespace", strict.Text(&m.namespace, 253)), field("uid", strict.Text(&m.uid, 253)),
		field("creationTimestamp", instant(&m.created)), field("labels", texts(&m.labels)), field("annotations", texts(&m.annotations)),
		field("ownerReferences", list(&owners, "owners", func(o *owner) strict.Reader {
			return object("ownerReferences", slices.Concat([]strict.Field{
				field("kind", text(&o.kind)), field("name", text(&o.name)), field("uid", text(&o.uid)), field("controller", strict.Bool(&o.controller)),
			}, skipped("apiVersion blockOwnerDeletion"))...)
		})),
	}, skipped("generateName selfLink resourceVersion generation deletionTimestamp deletionGracePeriodSeconds finalizers managedFields clusterName"))
	return func(d *strict.Decoder, n *yaml.Node) {
		d.ReadObject(n, "metadata", fields)
		for _, o := range owners {
			if o.controller || len(owners) == 1 {
				m.owner = o
			}
		}
	}
}

// tolerations reads a pod's or a flavor's tolerations.
func tolerations(to *[]kueue.Toleration) strict.Reader {
	return list(to, "tolerations", func(t *kueue.Toleration) strict.Reader {
		op := ""
		read := object("tolerations",
			field("key", text(&t.Key)), field("operator", choice(&op, "Exists", "Equal")), field("value", text(&t.Value)),
			field("effect", choice(&t.Effect, "NoSchedule", "PreferNoSchedule", "NoExecute")), field("tolerationSeconds", skip))
		return func(d *strict.Decoder, n *yaml.Node) {
			read(d, n)
			t.Exists = op == "Exists"
		}
	})
}

// taints reads a node's or a flavor's taints.
func taints(to *[]kueue.Taint) strict.Reader {
	return list(to, "taints", func(t *kueue.Taint) strict.Reader {
		return object("taints", field("key", text(&t.Key)), field("value", text(&t.Value)),
			field("effect", choice(&t.Effect, "NoSchedule", "PreferNoSchedule", "NoExecute")), field("timeAdded", skip))
	})
}

type selector struct {
	labels map[string]string
	terms  []kueue.Requirement
}

func readSelector(s *selector) strict.Reader {
	return object("selector", field("matchLabels", texts(&s.labels)), field("matchExpressions", list(&s.terms, "expressions", requirement)))
}

// requirement reads a demand of a label.
func requirement(r *kueue.Requirement) strict.Reader {
	return object("expression", field("key", text(&r.Key)),
		field("operator", choice(&r.Op, "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")), field("values", textList(&r.Values, "values")))
}

// duration reads a length of time as annotations and flags write it.
func duration(s string) (capcli.Seconds, error) {
	v, err := capcli.ParseSeconds(s)
	if err == nil && (v < 0 || v > maxDuration) {
		err = fmt.Errorf("want 0 s to 100 years, found %s", capcli.Quoted(s))
	}
	return v, err
}

// maxDuration is the longest that a workload may last.
const maxDuration = 100 * 366 * 86400
