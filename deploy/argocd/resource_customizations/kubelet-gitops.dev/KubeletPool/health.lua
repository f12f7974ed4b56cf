-- Health of a KubeletPool for Argo CD: what its conditions Ready and Stalled say of the newest generation.
local hs = { status = "Progressing", message = "waiting for the reconciler" }
if obj.status == nil or obj.status.conditions == nil then
  return hs
end
if obj.metadata.generation ~= nil and obj.status.observedGeneration ~= obj.metadata.generation then
  return hs
end
local ready, stalled
for _, condition in ipairs(obj.status.conditions) do
  if condition.type == "Ready" then
    ready = condition
  elseif condition.type == "Stalled" then
    stalled = condition
  end
end
if stalled ~= nil and stalled.status == "True" then
  hs.status = "Degraded"
  hs.message = stalled.reason .. ": " .. stalled.message
elseif ready ~= nil and ready.status == "True" then
  hs.status = "Healthy"
  hs.message = ready.message
elseif obj.spec ~= nil and obj.spec.suspend == true then
  hs.status = "Suspended"
  hs.message = "pool.yaml says suspend: true"
elseif obj.metadata.annotations ~= nil and obj.metadata.annotations["kubelet-gitops.dev/suspend"] ~= nil then
  hs.status = "Suspended"
  hs.message = obj.metadata.annotations["kubelet-gitops.dev/suspend"]
elseif ready ~= nil then
  hs.message = ready.message
end
return hs
