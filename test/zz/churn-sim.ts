import { FleetSimulation } from '../support/fleet-simulation.ts';
import { validPool, nodeView, commit, NOW, COMMIT_A, COMMIT_B } from '../support/fleet.ts';

const MIN = 60_000;
function run(everyMin: number, lifeMin: number, maxUnavailable: number|string, longLived: number, hours: number) {
  const sim = new FleetSimulation();
  const spec = { rollout: { maxUnavailable, soak: '0s', onFailure: { threshold: 1, action: 'halt' as const } } };
  const [a, b] = [validPool('workers', 100, spec), validPool('workers', 110, spec)];
  const names: string[] = [];
  for (let i = 0; i < longLived; i++) { const n = `long-${i}`; names.push(n); sim.addNode(nodeView(n, 'workers')); }
  sim.inForce = commit(COMMIT_A, a);
  const trialSince = new Map<string, number>();
  const born = new Map<string, number>();
  let made = 0;
  const tick = () => {
    for (let k = 0; k < 3; k++) sim.reconcile();
    for (const [name, kn] of sim.fleet.kubeletNodes) {
      const b0 = born.get(name);
      if (b0 !== undefined && sim.now - b0 < MIN) { // no agent yet
        sim.report(name, { ...kn.status, heartbeat: undefined as any }); continue; }
      const gen = kn.metadata.generation ?? 0, obs = kn.status?.observedGeneration ?? 0;
      if (obs < gen) { sim.agentStep(name); trialSince.set(name, sim.now); }
      else if (kn.status?.phase === 'Trial') { if (sim.now - (trialSince.get(name) ?? 0) >= 10 * MIN) sim.agentStep(name); else sim.beat(name); }
      else sim.beat(name);
    }
    sim.reconcile();
    sim.now += MIN;
  };
  // settle A without churn
  let t = 0; while (sim.fleet.pools.get('workers')?.status?.settled === undefined && t++ < 3000) tick();
  // warm-up of churn
  const churn = () => {
    if (everyMin > 0 && Math.round((sim.now - NOW) / MIN) % everyMin === 0) {
      const n = `spot-${made++}`; born.set(n, sim.now);
      sim.addNode(nodeView(n, 'workers', { createdAt: sim.now, ready: false, readySince: sim.now }));
    }
    for (const [n, at] of born) {
      const v = sim.fleet.nodes.get(n);
      if (v && !v.ready && sim.now - at >= MIN) sim.addNode({ ...v, ready: true, readySince: sim.now });
      if (sim.now - at >= lifeMin * MIN) { sim.removeNode(n); born.delete(n); }
    }
  };
  for (let m = 0; m < lifeMin * 1.2; m++) { churn(); tick(); }
  sim.inForce = commit(COMMIT_B, b);
  const start = sim.now; let doneAt: number|undefined; let settledAt: number|undefined;
  for (let m = 0; m < hours * 60; m++) {
    churn(); tick();
    const upd = names.filter(n => sim.fleet.kubeletNodes.get(n)?.status?.active?.sha256 === b.sha256).length;
    if (doneAt === undefined && upd === names.length) doneAt = sim.now;
    if (settledAt === undefined && sim.fleet.pools.get('workers')?.status?.settled?.sha256 === b.sha256) settledAt = sim.now;
  }
  const upd = names.filter(n => sim.fleet.kubeletNodes.get(n)?.status?.active?.sha256 === b.sha256).length;
  const p = sim.fleet.pools.get('workers')!.status!;
  const late=[...(sim.exposed.get(a.sha256)??[])].filter(n=>n.startsWith('spot')); const lateAfter=late.filter(n=>Number(n.slice(5))*everyMin*MIN>=((doneAt??start)-NOW)).length; const spots = [...sim.fleet.kubeletNodes].filter(([n]) => n.startsWith('spot'));
  console.log(JSON.stringify({ everyMin, lifeMin, maxUnavailable, longLived, hours, updatedLongLived: `${upd}/${names.length}`, doneAfterH: doneAt && (doneAt-start)/3.6e6, settledOnBAfterH: settledAt && (settledAt-start)/3.6e6, phase: p.phase, counts: p.counts, settledIs: p.settled?.sha256===a.sha256?'OLD':'NEW', spotsMade: made, spotsBornAfterRolloutDoneThatGotOldFirst: lateAfter, spotsNow: spots.length, spotsToldA: spots.filter(([,k])=>k.spec?.configSource?.sha256===a.sha256).length, hold: p.holds?.[0]?.message }));
}
const [e,l,u,n,h] = process.argv.slice(2);
run(Number(e), Number(l), /%/.test(u!) ? u! : Number(u), Number(n), Number(h));
