-- Health of a KubeletPool for Argo CD: what its conditions say of the newest generation, and whether a person holds it up.
local hs = { status = "Progressing", message = "waiting for the reconciler" }
if obj.status == nil or obj.status.conditions == nil then
  return hs
end
if obj.metadata.generation ~= nil and obj.status.observedGeneration ~= obj.metadata.generation then
  return hs
end
local ready, stalled, paused, suspended
for _, condition in ipairs(obj.status.conditions) do
  if condition.type == "Ready" then
    ready = condition
  elseif condition.type == "Stalled" then
    stalled = condition
  elseif condition.type == "WaitsForApproval" then
    paused = condition
  end
end
-- Not the annotation: its time may be over, and a file in git suspends as well.
for _, hold in ipairs(obj.status.holds or {}) do
  if hold.reason == "suspended" then
    suspended = hold
  end
end
if stalled ~= nil and stalled.status == "True" then
  hs.status = "Degraded"
  hs.message = stalled.reason .. ": " .. stalled.message
elseif ready ~= nil and ready.status == "True" then
  hs.status = "Healthy"
  hs.message = ready.message
elseif suspended ~= nil then
  hs.status = "Suspended"
  hs.message = suspended.message
elseif paused ~= nil and paused.status == "True" then
  hs.status = "Suspended"
  hs.message = paused.message
elseif ready ~= nil then
  hs.message = ready.message
end
return hs
