package tables

import (
	"capcli/cmd/report"
	"capcli/scenarios/kubernetes"
)

// KueueDoc is the report of what Kueue decides.
func KueueDoc(r *kubernetes.Result, form string) report.Doc {
	d := report.Doc{Lead: r.Answer(), Data: r}
	if form != "csv" && form != "tsv" {
		d.Notes = append(d.Notes, r.Notes...)
	}
	queues, quotas := "By ClusterQueue; undone is the work of workloads that still wait", "ResourceQuotas, which Kueue ignores"
	if r.Jobs != nil {
		queues, quotas = "Pods by namespace; undone is the work of pods that still wait", "ResourceQuotas of all pods of a namespace"
	}
	d.Tables = []report.Table{
		podOwnerTable(r.Jobs),
		queueTable("cluster_queues", queues, r.Queues),
		queueTable("local_queues", "By LocalQueue", r.LocalQueues),
		report.Fill(report.Table{Name: "flavors", Title: "Use by flavor"}, r.Flavors, []report.Field[kubernetes.FlavorRow]{
			{Name: "flavor", Align: report.Left},
			{Name: "resource", Align: report.Left},
			{Name: "unit", Align: report.Left, Priority: 2},
			{Name: "nominal", Head: "quota", As: report.AsTenths},
			{Name: "used_mean", Head: "mean", As: report.AsTenths},
			{Name: "used_max", Head: "most", As: report.AsTenths},
			{Name: "used_share", Head: "used", As: report.AsPercent},
		}),
		report.Fill(report.Table{Name: "quotas", Title: "Use by ClusterQueue and flavor", Aside: len(r.Quotas) > 24 || r.Jobs != nil}, r.Quotas, []report.Field[kubernetes.QuotaRow]{
			{Name: "cluster_queue", Head: "queue", Align: report.Left},
			{Name: "flavor", Align: report.Left},
			{Name: "resource", Align: report.Left},
			{Name: "unit", Align: report.Left, Priority: 2},
			{Name: "nominal", Head: "quota", As: report.AsTenths},
			{Name: "used_mean", Head: "mean", As: report.AsTenths},
			{Name: "used_max", Head: "most", As: report.AsTenths},
			{Name: "used_share", Head: "used", As: report.AsPercent, Priority: 2},
			{Name: "borrowed_mean", Head: "borrowed", As: report.AsTenths, Priority: 1},
			{Name: "borrowed_max", Head: "most borrowed", As: report.AsTenths, Priority: 2},
		}),
		report.Fill(report.Table{Name: "preemptions", Title: "Preemptions", Most: 10, Aside: len(r.Preemptions) == 0}, r.Preemptions, []report.Field[kubernetes.PreemptionRow]{
			{Name: "by_cluster_queue", Head: "by", Align: report.Left}, {Name: "of_cluster_queue", Head: "of", Align: report.Left}, {Name: "reason", Align: report.Left}, {Name: "count"}, {Name: "lost_gpu_hours", Head: "lost GPUh"},
		}),
		report.Fill(report.Table{Name: "pending", Title: "Still waiting at the end, longest wait first", Most: 10, Aside: len(r.Pending) == 0}, r.Pending, []report.Field[kubernetes.PendingRow]{
			{Name: "workload", Align: report.Left}, {Name: "cluster_queue", Head: "queue", Align: report.Left, Priority: 2}, {Name: "waiting_s", Head: "waits"}, {Name: "has_run", Priority: 3}, {Name: "why", Align: report.Left},
		}),
		report.Fill(report.Table{Name: "unqueued", Title: "In no queue", Most: 10, Aside: len(r.Unqueued) == 0}, r.Unqueued, []report.Field[kubernetes.Unqueued]{
			{Name: "workload", Align: report.Left}, {Name: "local_queue", Align: report.Left, Priority: 1}, {Name: "reason", Align: report.Left},
		}),
		report.Fill(report.Table{Name: "resource_quotas", Title: quotas, Aside: len(r.Namespaces) == 0}, r.Namespaces, []report.Field[kubernetes.NamespaceRow]{
			{Name: "namespace", Align: report.Left}, {Name: "resource_quota", Head: "quota", Align: report.Left, Priority: 1}, {Name: "resource", Align: report.Left}, {Name: "unit", Align: report.Left, Priority: 1}, {Name: "hard", As: report.AsTenths}, {Name: "used_max", Head: "most used", As: report.AsTenths}, {Name: "over_s", Head: "over"},
		}),
	}
	return d
}

func queueTable(name, title string, rows []kubernetes.QueueRow) report.Table {
	return report.Fill(report.Table{Name: name, Title: title, Aside: name == "local_queues"}, rows, []report.Field[kubernetes.QueueRow]{
		{Name: "queue", Align: report.Left},
		{Name: "cohort", Align: report.Left, Priority: 3},
		{Name: "workloads", Head: "jobs"},
		{Name: "finished", Priority: 2},
		{Name: "pending", Head: "wait"},
		{Name: "wait_p50_s", Head: "wait p50"},
		{Name: "wait_p95_s", Head: "p95"},
		{Name: "preempted"},
		{Name: "preempting", Priority: 2},
		{Name: "used_gpu_hours", Head: "GPUh"},
		{Name: "lost_gpu_hours", Head: "lost"},
		{Name: "unserved_gpu_hours", Head: "undone", Priority: 1},
	})
}

// podOwnerTable shows what creates pods, where Kueue does not decide.
func podOwnerTable(rows []kubernetes.JobRow) report.Table {
	return report.Fill(report.Table{Name: "jobs", Title: "What creates pods, by priority", Most: 20, Aside: rows == nil}, rows, []report.Field[kubernetes.JobRow]{
		{Name: "job", Align: report.Left},
		{Name: "kind", Align: report.Left, Priority: 1},
		{Name: "priority", Priority: 1},
		{Name: "state", Align: report.Left},
		{Name: "pods"},
		{Name: "finished", Priority: 2},
		{Name: "wanted_at_once", Head: "pods at once"},
		{Name: "most_at_once", Head: "most"},
		{Name: "first_start_s", Head: "first starts"},
		{Name: "all_start_s", Head: "all run"},
		{Name: "partial_s", Head: "partly running"},
		{Name: "preempted"},
		{Name: "refused"},
	})
}
