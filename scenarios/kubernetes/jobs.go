package kubernetes

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
)

// gpuResources are whole GPUs, and what counts like them, besides all that end in "/gpu".
var gpuResources = []string{"google.com/tpu", "habana.ai/gaudi", "aws.amazon.com/neuron", "gpu.intel.com/i915", "gpu.intel.com/xe"}

// IsGPU reports whether a resource counts GPUs. Slices of GPUs (nvidia.com/mig-…) do not.
func IsGPU(resource string) bool {
	return strings.HasSuffix(resource, "/gpu") || slices.Contains(gpuResources, resource)
}

// traceWorkloads makes workloads of the jobs of a log that no object stands for. Each goes to the
// LocalQueue that its partition names: namespace/name, or name alone where there is one of that name.
func (b *builder) traceWorkloads() ([]*workload, error) {
	known := map[string]bool{}
	for _, w := range slices.Concat(b.workloads, b.jobs) {
		known[w.id()], known[w.jobID()] = true, true
	}
	var out []*workload
	for i := range b.o.Jobs {
		j := &b.o.Jobs[i]
		if known[j.ID] {
			continue
		}
		local := b.findQueue(j)
		if local == nil {
			b.out.Unqueued = append(b.out.Unqueued, Unqueued{j.ID, j.Partition, "the job's partition names no LocalQueue"})
			continue
		}
		q := b.byName[local.clusterQueue]
		if q == nil {
			b.out.Unqueued = append(b.out.Unqueued, Unqueued{j.ID, j.Partition, fmt.Sprintf("the ClusterQueue %s of its LocalQueue is not given", local.clusterQueue)})
			continue
		}
		w, err := b.jobWorkload(j, local, q)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// findQueue returns the LocalQueue to which a job was sent, nil if there is none.
func (b *builder) findQueue(j *capcli.Job) *localQueue {
	for _, name := range []string{j.Partition, j.Tenant + "/" + j.Partition} {
		if q := b.byQueue[name]; q != nil {
			return q
		}
	}
	var found *localQueue
	for _, q := range b.localQueues {
		if q.name == j.Partition || j.Partition != "" && q.clusterQueue == j.Partition {
			if found != nil && found.clusterQueue != q.clusterQueue {
				return nil
			}
			found = q
		}
	}
	return found
}

// podGPUs is the most GPUs of a pod that is made for a job of a log.
const podGPUs = 8

// jobWorkload is the workload of a job of a log: pods of at most eight GPUs.
func (b *builder) jobWorkload(j *capcli.Job, local *localQueue, q *clusterQueue) (*workload, error) {
	namespace, name, two := strings.Cut(j.ID, "/")
	if !two {
		namespace, name = local.namespace, j.ID
	}
	w := &workload{meta: meta{namespace: local.namespace, name: name, uid: j.ID, created: j.Submit, file: "--trace"}, queue: local.name}
	if !j.Submit.IsKnown() { // it comes now
		w.created = b.now
	}
	if two && namespace != local.namespace {
		w.name = j.ID
	}
	if j.Tenant != "" {
		w.labels = map[string]string{"team": j.Tenant}
	}
	p := &podSet{name: "main", count: 1}
	w.podSets = []*podSet{p}
	priority := int64(j.Priority)
	w.priority = &priority
	w.annotations = map[string]string{durationAnnotation: fmt.Sprintf("%ds", j.Run)}
	requests := map[string]capcli.Quantity{}
	resource := q.gpuResource()
	if j.GPUs > 0 {
		if resource == "" {
			return nil, &capcli.InputError{Field: "partition", Text: fmt.Sprintf("job %s wants GPUs, but the ClusterQueue %s has a quota of no GPU resource", j.ID, q.name), Hint: "send it to another LocalQueue"}
		}
		each := int64(j.GPUs)
		for each > podGPUs {
			p.count++
			for int64(j.GPUs)%p.count != 0 {
				p.count++
			}
			each = int64(j.GPUs) / p.count
		}
		requests[resource] = capcli.QuantityOf(each)
	}
	covers := func(r string) bool {
		return slices.ContainsFunc(q.ResourceGroups, func(g kueue.ResourceGroup) bool { return slices.Contains(g.Resources, r) })
	}
	if covers("cpu") && j.CPUMilli > 0 {
		requests["cpu"] = capcli.QuantityOfMilli((j.CPUMilli + p.count - 1) / p.count)
	}
	if covers("memory") && j.MemMiB > 0 {
		requests["memory"] = capcli.QuantityOf((j.MemMiB + p.count - 1) / p.count << 20)
	}
	p.pod.containers = []container{{requests: requests}}
	return w, nil
}

// gpuResource is the first GPU resource that the queue covers, "" if there is none.
func (q *clusterQueue) gpuResource() string {
	for _, g := range q.ResourceGroups {
		for _, r := range g.Resources {
			if IsGPU(r) {
				return r
			}
		}
	}
	return ""
}
