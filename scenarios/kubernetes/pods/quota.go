package pods

import (
	"fmt"
	"maps"
	"slices"
)

// quota is a ResourceQuota and what is used of it.
type quota struct {
	spec *Quota
	used map[string]int64
}

func (q *quota) covers(o *Owner) bool {
	if q.spec.Namespace != o.Namespace {
		return false
	}
	class := map[string]string{}
	if o.Class != "" {
		class[ClassKey] = o.Class
	}
	for i := range q.spec.Scope {
		if !q.spec.Scope[i].Holds(class) {
			return false
		}
	}
	return true
}

// asks returns what one pod of the owner uses of a resource of quotas.
func (o *Owner) asks(resource string) int64 {
	if resource == PodCount {
		return 1
	}
	return o.Pod.Requests[resource]
}

// mustBeStated are the resources of which a pod must state a request where a quota limits them.
var mustBeStated = []string{"cpu", "memory"}

// refuse returns why quota admission refuses a further pod of the owner, and whether it may let it later; "" where it
// lets it now. An update of use is all or nothing, as each pod is admitted by all quotas at once.
func (o *owner) refuse() (why string, ever bool) {
	for _, q := range o.quotas {
		for _, r := range slices.Sorted(maps.Keys(q.spec.Hard)) {
			asks, hard := o.spec.asks(r), q.spec.Hard[r]
			switch {
			case asks == 0 && slices.Contains(mustBeStated, r):
				return fmt.Sprintf("failed quota: %s: its pods must specify %s", q.spec.Name, r), false
			case asks > hard:
				return fmt.Sprintf("exceeded quota: %s, requested: %s=%d, limited: %s=%d", q.spec.Name, r, asks, r, hard), false
			case asks > 0 && q.used[r]+asks > hard:
				return fmt.Sprintf("exceeded quota: %s, requested: %s=%d, used: %s=%d, limited: %s=%d", q.spec.Name, r, asks, r, q.used[r], r, hard), true
			}
		}
	}
	return "", true
}

// count adds a pod of the owner to what is used of quotas, or with by -1 takes it away.
func (o *owner) count(by int64) {
	for _, q := range o.quotas {
		for r := range q.spec.Hard {
			q.used[r] += by * o.spec.asks(r)
		}
	}
}
